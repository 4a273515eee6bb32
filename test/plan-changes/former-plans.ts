/**
 * Finds references of a server to its former plans.
 */
import { askShort } from '@portolan/kernel/chain/testing/ask.ts';
import { collectGarbage } from './heap.ts';
import type { ChangingServer, Part } from './scene.ts';

/** Milliseconds in which what a plan has left ends. */
const DEADLINE = 60_000;

/**
 * Changes the plan by each number from the first to the last, and asks by each plan.
 *
 * @returns the parts of former plans that are still referred to after that
 */
export async function changePlans(
  server: ChangingServer,
  first: number,
  last: number,
): Promise<readonly string[]> {
  const former: Part[] = [];
  await askAll(server);
  for (let index = first; index <= last; index += 1) {
    former.push(...server.parts());
    await server.change(index);
    await askAll(server);
  }
  const held = () => former.flatMap(({ name, reference }) => (reference.deref() === undefined ? [] : name));
  const end = performance.now() + DEADLINE;
  do await collectGarbage();
  while (held().length > 0 && performance.now() < end);
  return held();
}

async function askAll({ port, names }: ChangingServer): Promise<void> {
  for (const name of names) await askShort({ address: '127.0.0.1', port }, name, 'A');
}
