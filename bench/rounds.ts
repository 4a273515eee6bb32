/**
 * Measures several subjects in turn, A B C A B C, so that other load of the machine affects all of them.
 */
import { machineTime, readStolenTime, stolenBetween } from './machine.ts';

export interface Turns<Subject, Result> {
  readonly subject: Subject;
  readonly results: readonly Result[];
}

/**
 * @param measure a turn of one subject
 * @param say is told the length of it all, and of processor time that the host of a virtual machine took
 */
export async function takeTurns<Subject, Result>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject) => Promise<Result>,
  say: (text: string) => void,
): Promise<readonly Turns<Subject, Result>[]> {
  const turns = subjects.map((subject) => ({ subject, results: [] as Result[] }));
  const begun = machineTime();
  const before = readStolenTime();
  for (let round = 0; round < rounds; round++) {
    for (const turn of turns) turn.results.push(await measure(turn.subject));
  }
  const seconds = Math.round((machineTime() - begun) / 1000);
  const stolen = stolenBetween(before, readStolenTime()).toFixed(1);
  say(`${rounds} rounds in ${seconds} s, of which the host of the virtual machine took ${stolen} %`);
  return turns;
}
