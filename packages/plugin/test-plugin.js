#!/usr/bin/env node
/**
 * `npx portolan-plugin MODULE`: tests a plugin, prints its faults, and exits with 1 if there are any.
 */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testPlugin } from './conformance.js';

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.stderr.write('Usage: portolan-plugin <module>\n');
  process.exit(2);
}
const { default: definition } = await import(pathToFileURL(resolve(path)).href);
const faults =
  definition === undefined
    ? ['It has no default export: write export default definePlugin({ … }).']
    : [...findLoadFaults(), ...(await testPlugin(definition))];
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(
  faults.length === 0
    ? `${definition.name} conforms\n`
    : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}\n`,
);
process.exit(faults.length === 0 ? 0 : 1);

/** A server loads it by `require`. */
function findLoadFaults() {
  try {
    createRequire(import.meta.url)(resolve(path));
    return [];
  } catch (error) {
    return error.code === 'ERR_REQUIRE_ASYNC_MODULE'
      ? ['No server can load it: move the await at its top level into start of the plugin.']
      : [`No server can load it: ${error.message}.`];
  }
}
