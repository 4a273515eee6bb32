/**
 * Finds references of a server to its former plans.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
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
  const isFree = async () => {
    await collectGarbage();
    return held().length === 0;
  };
  await waitUntil('former plans to be free', isFree, { deadline: DEADLINE }).catch(() => {});
  return held();
}

async function askAll({ port, names }: ChangingServer): Promise<void> {
  for (const name of names) await askShort({ address: '127.0.0.1', port }, name, 'A');
}
