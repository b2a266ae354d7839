// A small app: it takes orders, and thanks for them in a job that crontick POSTs back to it.
//
//   [kinds.thank]
//   url = "http://127.0.0.1:3000/jobs/thank"
//
//   DATABASE_URL=… CRONTICK_SIGNING_SECRET=whsec_… node app.mjs
import { createServer } from "node:http";
import pg from "pg";
import { Webhook } from "standardwebhooks";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// Several while they rotate, as crontick has them.
const webhooks = process.env.CRONTICK_SIGNING_SECRET.split(",").map((secret) => new Webhook(secret.trim()));

/** Runs `work` in a transaction: all of it is committed, or nothing. */
async function transaction(work) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    client.release(error); // closed, so that nothing of it is left open
    throw error;
  }
}

/** The order and the job that thanks for it are committed together. */
async function takeOrder({ id, email }) {
  return transaction(async (client) => {
    await client.query("insert into orders (id, email) values ($1, $2)", [id, email]);
    const { rows } = await client.query("select crontick.enqueue('thank', $1) as job", [{ order: id }]);
    return { job: rows[0].job };
  });
}

/** What the job does, and its end, are committed together: a second POST of the same job changes nothing. */
async function thank({ id, claim, payload }) {
  return transaction(async (client) => {
    const { rows } = await client.query("update orders set thanked = thanked + 1 where id = $1 returning email", [payload.order]);
    if (rows.length === 0) return { cancel: `there is no order ${payload.order}` };
    await client.query("select crontick.complete($1, $2, $3)", [id, claim, { thanked: rows[0].email }]);
    return { completed: true };
  });
}

/** The job, when one of our secrets signed these very bytes in the last five minutes. */
function verified(body, headers) {
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers);
    } catch {
      // signed with another secret, or by somebody else
    }
  }
  return null;
}

async function answer(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  if (request.method === "POST" && request.url === "/orders") return [201, await takeOrder(JSON.parse(body))];
  if (request.method === "POST" && request.url === "/jobs/thank") {
    const job = verified(body, request.headers);
    return job === null ? [401, { error: "not signed by crontick" }] : [200, await thank(job)];
  }
  return [404, { error: "no such route" }];
}

const server = createServer((request, response) => {
  answer(request)
    .catch((error) => [500, { error: error.message }]) // crontick tries again
    .then(([status, body]) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)));
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
