/**
 * Tests that need a program of the system: dig, knotd, dnsmasq.
 *
 * If the program is missing, the test is skipped under a name that includes the program. With `CI` set it fails instead, so
 * that CI never skips a test silently.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it } from 'vitest';

const found = new Map<string, boolean>();

/** Whether `name` is an executable of the `PATH`, or of the folders where daemons stand. */
export function hasTool(name: string): boolean {
  const known = found.get(name);
  if (known !== undefined) return known;
  const { PATH = '' } = process.env;
  const folders = [...PATH.split(delimiter), '/usr/sbin', '/sbin'];
  const present = folders.some((folder) => folder !== '' && isExecutable(join(folder, name)));
  found.set(name, present);
  return present;
}

/** `it`, where every one of `tools` is installed. */
export function itWithTool(
  tools: string | readonly string[],
  name: string,
  run: () => void | Promise<void>,
  timeout?: number,
): void {
  const missing = listMissingTools(tools);
  if (missing.length === 0) it(name, run, timeout);
  else if (mustHaveAll()) it(name, () => failFor(missing));
  else it.skip(`${name} (needs ${missing.join(', ')}, not installed)`, run);
}

/** `describe`, where every one of `tools` is installed. */
export function describeWithTool(tools: string | readonly string[], name: string, define: () => void): void {
  const missing = listMissingTools(tools);
  if (missing.length === 0) describe(name, define);
  else if (mustHaveAll()) describe(name, () => void it('has its tools', () => failFor(missing)));
  else describe.skip(`${name} (needs ${missing.join(', ')}, not installed)`, define);
}

/** `describe`, where the system allows what it needs. @param need what that is, for people: `unshare -rn` */
export function describeWhere(isAllowed: boolean, need: string, name: string, define: () => void): void {
  if (isAllowed) describe(name, define);
  else if (mustHaveAll()) describe(name, () => void it('may do what it needs', () => failForbidden(need)));
  else describe.skip(`${name} (needs ${need}, not allowed)`, define);
}

/** `it`, where the system allows what it needs. @param need what that is, for people: `port 53` */
export function itWhere(
  isAllowed: boolean,
  need: string,
  name: string,
  run: () => void | Promise<void>,
): void {
  if (isAllowed) it(name, run);
  else if (mustHaveAll()) it(name, () => failForbidden(need));
  else it.skip(`${name} (needs ${need}, not allowed)`, run);
}

function listMissingTools(tools: string | readonly string[]): readonly string[] {
  return (typeof tools === 'string' ? [tools] : tools).filter((tool) => !hasTool(tool));
}

function mustHaveAll(): boolean {
  const { CI = '' } = process.env;
  return CI !== '' && CI !== 'false' && CI !== '0';
}

function failFor(missing: readonly string[]): never {
  throw new Error(`programs missing, and all must be here since CI is set: ${missing.join(', ')}`);
}

function failForbidden(need: string): never {
  throw new Error(`not allowed, and all must be here since CI is set: ${need}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
