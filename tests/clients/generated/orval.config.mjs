// Options of orval. API is the URL of the server.
import { env } from "node:process";

export default {
  forum: { input: "openapi.json", output: { target: "orval.ts", client: "fetch", baseUrl: env.API } },
};
