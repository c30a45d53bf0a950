# docker build -t seed3d . && docker run --rm -v "$PWD/out:/out" seed3d
FROM python:3.11-slim
WORKDIR /seed3d
COPY . .
RUN scripts/setup.sh && rm -rf /var/lib/apt/lists/* /root/.cache
ENV PATH="/seed3d/.venv/bin:$PATH"
ENTRYPOINT ["seed3d"]
CMD ["generate", "examples/mug.png", "-o", "/out"]
