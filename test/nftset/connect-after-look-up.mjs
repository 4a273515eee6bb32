/**
 * A client: looks names up at 127.0.0.1, and connects to the first address of each as soon as it has it.
 *
 * A look-up that fails is repeated for some time, as clients do.
 *
 * Arguments: the port of the server, a file with names in lines, the family (4 or 6), how many look-ups are on their way at once. Prints how many
 * connections were `allowed`, how many were `refused`, and how many look-ups `failed`.
 */
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const SERVICE_PORT = 8080;

const [port, file, family, width] = process.argv.slice(2);
const names = readFileSync(file, 'utf8').split('\n');
const TRIES = 20;
const counts = { allowed: 0, refused: 0, failed: 0 };
const service = createServer((socket) => socket.end());
await new Promise((resolve) => service.listen(SERVICE_PORT, '::', resolve));
const resolver = new Resolver({ timeout: 5000, tries: 2 });
resolver.setServers([`127.0.0.1:${port}`]);

async function look(name) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      const [address] = await (family === '6' ? resolver.resolve6(name) : resolver.resolve4(name));
      return address;
    } catch {
      // SERVFAIL, or no answer in time.
    }
  }
  return undefined;
}

function mayConnect(host) {
  return new Promise((resolve) => {
    const socket = connect({ host, port: SERVICE_PORT });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function work() {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const address = await look(name);
    if (address === undefined) counts.failed += 1;
    else if (await mayConnect(address)) counts.allowed += 1;
    else counts.refused += 1;
  }
}

await Promise.all(Array.from({ length: Number(width) }, work));
service.close();
process.stdout.write(JSON.stringify(counts));
