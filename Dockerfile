# The server with its console and documentation, built from this repository: docker build -t strongroom .
# Nothing secret goes into the image. What a server keeps is in the volume, the root key among it; see docs/how-to/run-in-a-container.md.

FROM node:24-bookworm-slim AS built
WORKDIR /opt/strongroom
COPY . .
RUN npm ci \
  && node packages/cli/scripts/write-docs.ts .setup/docs \
  && node packages/console/scripts/build.ts .setup/console

FROM node:24-bookworm-slim AS packages
WORKDIR /opt/strongroom
COPY . .
RUN npm ci --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
  STRONGROOM_HOST=0.0.0.0 \
  STRONGROOM_PORT=8420 \
  STRONGROOM_DATA=/data
WORKDIR /opt/strongroom
COPY --from=packages /opt/strongroom ./
COPY --from=built /opt/strongroom/.setup ./.setup
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 8420
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8420/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/server/src/main.ts"]
