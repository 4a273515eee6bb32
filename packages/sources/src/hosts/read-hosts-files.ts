/**
 * Reads hosts files piece by piece, so that a long file does not block the thread.
 */
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { HostsManner, HostsVisitor, HostsWarning } from './hosts-manner.ts';
import { HostsReader } from './hosts-reader.ts';
import type { HostsFile } from './hosts-source.ts';

export interface ReadHostsFilesOptions {
  readonly files: readonly HostsFile[];
  readonly manner: HostsManner;
  readonly guard: ItemGuard;
  readonly onWarning: (file: HostsFile, warning: HostsWarning) => void;
  /** Called before a file is read. @returns what takes its names */
  readonly begin: (file: HostsFile) => HostsVisitor['host'];
}

/**
 * Reads all files, in order. The caller may pause at each yield.
 *
 * @returns false if a file no longer matches its report, because it is changing
 * @throws TableFullError of a visitor
 */
export function* readHostsFiles(options: ReadHostsFilesOptions): Generator<void, boolean> {
  const { files, manner, guard, onWarning, begin } = options;
  for (const file of files) {
    const take = begin(file);
    let full: TableFullError | undefined;
    const host: HostsVisitor['host'] = (address, name, isPlain) => {
      try {
        if (full === undefined) take(address, name, isPlain);
      } catch (error) {
        // No fault of the line.
        if (!(error instanceof TableFullError)) throw error;
        full = error;
      }
    };
    const reader = new HostsReader(manner, {
      host,
      warning: (warning) => onWarning(file, warning),
      line: (line, read) => guard.take(() => `${file.path}:${line}`, read),
    });
    const pieces = file.read();
    for (let piece = pieces.next(); ; piece = pieces.next()) {
      if (piece.done === true) {
        if (!piece.value) return false;
        break;
      }
      reader.push(piece.value);
      if (full !== undefined) throw full;
      yield;
    }
    reader.end();
    if (full !== undefined) throw full;
  }
  return true;
}
