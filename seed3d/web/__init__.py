"""The web page: photo or mesh to asset in a browser, and the same as an API.

`settings` and `page` are the way in; work runs in processes of their own (`pool`, `worker`).
"""
