# glibc, not musl: the Temporal SDK's native module exists for glibc only.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY test/contract/consumer/package.json test/contract/consumer/
COPY patches patches/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund && node deploy/prune.js

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
RUN ln -s /app/bin/waybill.js /usr/local/bin/waybill \
  && mkdir -m 700 /var/lib/waybill \
  && chown node:node /var/lib/waybill
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/waybill
USER node
EXPOSE 8080 9464
# Signals must reach the program itself, which drains: no npm in between.
CMD ["node", "--enable-source-maps", "bin/main.js"]
