/**
 * The machine of the results, and its load by other processes meanwhile.
 */
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

export interface Machine {
  readonly date: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGibibytes: number;
  readonly kernel: string;
  readonly node: string;
  /** Mean number of runnable tasks over the last minute, before anything was measured. */
  readonly load: number;
}

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
}

export function printMachine(machine: Machine): string {
  const { date, cores, processor, memoryGibibytes, kernel, node, load } = machine;
  return (
    `${date}, ${cores} cores of ${processor}, ${memoryGibibytes} GiB, Linux ${kernel}, Node ${node}, ` +
    `load average ${load.toFixed(2)} at start`
  );
}

/** Milliseconds of the machine's own clock, which all its processes share and none sets. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A reading of the processor time that the host of a virtual machine has kept for others. */
export interface StolenTime {
  readonly stolen: number;
  readonly all: number;
}

export function readStolenTime(): StolenTime {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { stolen: ticks[7] ?? 0, all: ticks.reduce((sum, more) => sum + more, 0) };
}

/** In percent of all processor time between two readings. */
export function stolenBetween(before: StolenTime, after: StolenTime): number {
  return (100 * (after.stolen - before.stolen)) / Math.max(1, after.all - before.all);
}
