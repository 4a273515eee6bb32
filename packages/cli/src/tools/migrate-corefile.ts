/**
 * `portolan corefile migrate` and `fmt`: change a Corefile in place, or print the result.
 */
import { writeFileSync } from 'node:fs';
import { MigrationError } from '@portolan/corefile/migration/changes.ts';
import { type Migration, migrateCorefile } from '@portolan/corefile/migration/migrate-corefile.ts';
import { RELEASES, ReleaseError } from '@portolan/corefile/migration/releases.ts';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { describePosition } from '@portolan/corefile/syntax/token.ts';
import { formatCorefile } from '@portolan/corefile/written/format-corefile.ts';
import {
  type FormatFlags,
  type MigrateFlags,
  planFromMigrateFlags,
} from '@portolan/frontends/coredns/settings/migrate-flags.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { ExitError } from '../grammar/exit.ts';
import { readCorefileText, STANDARD_INPUT } from './read-text.ts';

/** @throws ExitError */
export function formatFiles(files: readonly string[], { write = false, diff = false }: FormatFlags): void {
  let isDifferent = false;
  for (const file of files) {
    const text = readCorefileText(file);
    const formatted = orFail(() => formatCorefile(text, formatFileName(file)));
    isDifferent ||= formatted !== text;
    if (diff) {
      if (formatted !== text) process.stdout.write(`${formatFileName(file)}\n`);
    } else if (!write || file === STANDARD_INPUT) process.stdout.write(formatted);
    else if (formatted !== text) writeText(file, formatted);
  }
  if (diff && isDifferent) throw new ExitError(1);
}

/** @throws ExitError */
export function migrateFile(file: string, flags: MigrateFlags): void {
  const plan = planFromMigrateFlags(flags);
  if (plan === undefined) {
    process.stderr.write(
      'portolan corefile migrate: --from is missing. Give the version of CoreDNS that the Corefile is for.\n',
    );
    throw new ExitError(2);
  }
  const text = readCorefileText(file);
  const settings = { file: formatFileName(file), files: DISK_FILES, environment: process.env, ...plan };
  const { files, notices } = orFail(() => migrateCorefile(text, settings));
  for (const notice of notices)
    process.stderr.write(`${describePosition(notice.position)}: ${notice.text}\n`);
  if (plan.writes && file !== STANDARD_INPUT) writeChanges(files);
  else printChanges(files);
}

function writeChanges(files: Migration['files']): void {
  for (const { path, text, changed } of files) if (changed !== text) writeText(path, changed);
}

function printChanges([main, ...imported]: Migration['files']): void {
  process.stdout.write(main?.changed ?? '');
  for (const { path, text, changed } of imported)
    if (changed !== text) process.stderr.write(`${path}: changes too. Give --write to change it.\n`);
}

function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    fail(`cannot write ${path}: ${describeError(error)}`);
  }
}

const formatFileName = (file: string): string => (file === STANDARD_INPUT ? 'stdin' : file);

function orFail<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const reason = describeError(error);
    if (error instanceof ReleaseError)
      return fail(`error while migration: ${reason}\n  Give one of ${RELEASES.join(', ')}.`);
    if (error instanceof MigrationError)
      return fail(`error while migration: ${reason}\n  Change this server block yourself first.`);
    return fail(`${reason}\n  portolan corefile check names all faults.`);
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  throw new ExitError(1);
}
