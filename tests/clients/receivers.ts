// Runs the document's receiver on deliveries: one JSON object a line on stdin, one result a line on stdout.

import { stdin } from "node:process";
import { createInterface } from "node:readline";
import { isGenuine } from "./is_genuine.ts";

interface Delivery {
    secrets: string[];
    headers: Record<string, string>;
    body: string;
}

for await (const line of createInterface({ input: stdin })) {
    const { secrets, headers, body } = JSON.parse(line) as Delivery;
    console.log(isGenuine(secrets, new Headers(headers), Buffer.from(body)));
}
