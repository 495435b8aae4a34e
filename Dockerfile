# syntax=docker/dockerfile:1
# Builds the package for Linux, and an image that runs it. docs/install.md says how to use it.
FROM golang:1.26-bookworm AS go

FROM node:24-bookworm AS build
COPY --from=go /usr/local/go /usr/local/go
ENV PATH=/usr/local/go/bin:$PATH
WORKDIR /weir
# First what changes seldom: the packages of npm are fetched again only with another lock file.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node bin/package.mjs --arch "$(uname -m)" --folder --out /package && mv /package/weir-* /package/weir

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates iproute2 \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --system --gid 10001 weir \
  && useradd --system --uid 10001 --gid weir --home-dir /var/lib/weir --no-create-home --shell /usr/sbin/nologin weir \
  && install -d -m 0700 -o weir -g weir /var/lib/weir
COPY --from=build /package/weir /opt/weir
ENV PATH=/opt/weir/bin:$PATH NODE_ENV=production WEIR_DATA_DIR=/var/lib/weir
USER 10001:10001
WORKDIR /var/lib/weir
VOLUME /var/lib/weir
EXPOSE 2053 2096
HEALTHCHECK --interval=30s --timeout=15s --start-period=60s --retries=3 CMD ["weir", "health"]
# SIGTERM stops panel and core in good order.
STOPSIGNAL SIGTERM
ENTRYPOINT ["weir"]
CMD ["run"]
