// Options of @hey-api/openapi-ts: a client that checks requests and responses with zod.

export default {
  input: "openapi.json",
  output: "heyapi",
  plugins: ["@hey-api/client-fetch", "zod", { name: "@hey-api/sdk", validator: true }],
};
