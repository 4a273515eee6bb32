/**
 * Compiles a Corefile given as text, for tests.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { compileCorefile } from '../compile-corefile.ts';
import { readCorefile, type ServerBlock } from '../read-corefile.ts';

/**
 * @param adapt the changes that a front end makes to the blocks
 * @param restored the deviations in which the server does as CoreDNS
 * @throws Error with the problems of the Corefile
 */
export function compileText(
  corefile: string,
  adapt = (blocks: readonly ServerBlock[]) => blocks,
  restored = NOTHING_RESTORED,
): ReturnType<typeof compileCorefile> {
  const reading = readCorefile(corefile, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  return compileCorefile(adapt(reading.blocks), { restored });
}

/** The engine plan of a Corefile. @throws Error with the problems of the Corefile */
export const compilePlan = (corefile: string): EnginePlan => compileText(corefile).engine;
