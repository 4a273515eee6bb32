/**
 * The last good settings in a file beside the snapshot. They apply at start until the ConfigMap is read, and further on if that is
 * invalid.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { ItemFault, ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { ConfigText, ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import {
  readSnapshot,
  type SnapshotOwner,
  writeSnapshot,
} from '@portolan/kubernetes/snapshot/snapshot-file.ts';
import { CONFIG_KEYS } from '@portolan/server/settings/config-map/config-map.ts';

export interface StoredConfigOptions {
  readonly file: string;
  /** The owner and source of the settings. */
  readonly owner: SnapshotOwner;
  readonly clock: Clock;
  readonly log: Log;
}

export class StoredConfig {
  readonly #options: StoredConfigOptions;
  /** Lines waiting to be written. */
  #waiting: readonly string[] | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: StoredConfigOptions) {
    this.#options = options;
  }

  /** @returns undefined if there are no usable settings; the log has the reason */
  async read(): Promise<ConfigTexts | undefined> {
    const { file, owner, clock, log } = this.#options;
    const reading = await readSnapshot(file, owner);
    if (reading.kind === 'none') return undefined;
    if (reading.kind === 'good' && reading.content.kind === 'lines')
      return readKeptLines(reading.content.lines, new ItemGuard({ source: 'saved-config', clock, log }));
    const reason = reading.kind === 'good' ? 'it has no lines' : reading.reason;
    log.error('saved configuration ignored', { file, reason });
    return undefined;
  }

  /** Writes settings in the background. */
  keep(texts: ConfigTexts): void {
    const lines: string[] = [];
    for (const key of CONFIG_KEYS) {
      const value = texts.get(key);
      if (value?.kind === 'text') lines.push(JSON.stringify([key, value.text]));
    }
    this.#waiting = lines;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when all is written. */
  async stop(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { file, owner, clock, log } = this.#options;
    for (let lines = this.#waiting; lines !== undefined; lines = this.#waiting) {
      this.#waiting = undefined;
      try {
        await writeSnapshot(file, owner, { kind: 'lines', lines }, clock.now());
      } catch (error) {
        log.error('cannot save configuration', {
          reason: describeError(error),
        });
      }
    }
  }
}

/**
 * Accepts settings as a whole or not at all: with some of them missing, queries could go to wrong servers.
 *
 * @returns undefined if a line is not a key with its text
 */
export function readKeptLines(lines: Iterable<string>, guard: ItemGuard): ConfigTexts | undefined {
  const texts = new Map<string, ConfigText>();
  let number = 0;
  let isWhole = true;
  for (const line of lines) {
    number += 1;
    const kept = guard.take(
      () => `setting ${number}`,
      () => readKeptLine(line),
    );
    if (kept === undefined) isWhole = false;
    else texts.set(...kept);
  }
  return isWhole ? texts : undefined;
}

function readKeptLine(line: string): readonly [key: string, text: ConfigText] {
  const [key, text] = parseList(line);
  if (typeof key !== 'string' || typeof text !== 'string')
    throw new ItemFault('malformed', `not a key and its text: ${line.slice(0, MAX_SHOWN)}`);
  return [key, { kind: 'text', text }];
}

/** @returns an empty list if the text is not a JSON list */
function parseList(line: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** The most characters of a line in a message. */
const MAX_SHOWN = 80;
