# Two images of one build: `serve`, the last target, for a database and a Temporal that are configured; `try`, with both inside.
#
#   docker build -t waybill .
#   docker build -t waybill:try --target try .
#
# glibc, not musl: the Temporal SDK's native module exists for glibc only.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY test/contract/consumer/package.json test/contract/consumer/
COPY patches patches/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

# Before the pruning, which takes the embedded Postgres out.
FROM build AS embedded
RUN node deploy/embedded.js /embedded

FROM build AS pruned
RUN node deploy/prune.js

FROM node:24.21.0-bookworm-slim AS base
WORKDIR /app
COPY --from=pruned /app/package.json ./
COPY --from=pruned /app/node_modules ./node_modules
COPY --from=pruned /app/bin ./bin
COPY --from=pruned /app/dist ./dist
RUN ln -s /app/bin/waybill.js /usr/local/bin/waybill \
  && mkdir -m 700 /var/lib/waybill \
  && chown node:node /var/lib/waybill
# The last one is for messages: they name commands as `docker exec` runs them.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/waybill WAYBILL_IMAGE=1
USER node
EXPOSE 8080 9464
# Every role answers there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT ?? 9464}/readyz`).then((r) => process.exit(r.ok ? 0 : 1))"]
STOPSIGNAL SIGTERM
# Signals must reach the program itself, which drains: no npm in between.
CMD ["node", "--enable-source-maps", "bin/main.js"]

FROM base AS try
COPY --from=embedded /embedded/node_modules ./node_modules
COPY --from=embedded /embedded/temporal /usr/local/bin/
VOLUME /var/lib/waybill

FROM base AS serve
