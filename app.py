"""`python app.py`: the web page; the same as `seed3d app`, with its options."""

from seed3d.cli.app import app

if __name__ == "__main__":
    app()
