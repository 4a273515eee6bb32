/**
 * The plan of a Corefile that is given as text.
 */
import type { EnginePlan } from '../../server/engine-plan.ts';
import { compileCorefile } from '../compile-corefile.ts';
import { readCorefile } from '../read-corefile.ts';
import { DISK_FILES } from '../syntax/corefile-files.ts';

/** @throws Error with the problems of the Corefile */
export function compileText(corefile: string): ReturnType<typeof compileCorefile> {
  const reading = readCorefile(corefile, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  return compileCorefile(reading.blocks);
}

/** What answers queries. @throws Error with the problems of the Corefile */
export const planOf = (corefile: string): EnginePlan => compileText(corefile).engine;
