/**
 * The last good settings in a file beside the snapshot: they hold at a start until the ConfigMap is read, and on if there is
 * a mistake in it.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { CONFIG_KEYS } from '../../config/config-map/config-map.ts';
import type { ConfigTexts } from '../../sources/config-map/config-texts.ts';
import { readSnapshot, type SnapshotOwner, writeSnapshot } from '../../sources/snapshot/snapshot-file.ts';

export interface KeptConfigOptions {
  readonly file: string;
  /** Whose settings they are, and where they come from. */
  readonly owner: SnapshotOwner;
  readonly clock: Clock;
  readonly log: Log;
}

export class KeptConfig {
  readonly #options: KeptConfigOptions;
  /** What is to be written and is not yet. */
  #waiting: readonly string[] | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: KeptConfigOptions) {
    this.#options = options;
  }

  /** @returns nothing if there are none that can be used; why is in the log */
  async read(): Promise<ConfigTexts | undefined> {
    const { file, owner, log } = this.#options;
    const reading = await readSnapshot(file, owner);
    if (reading.kind === 'none') return undefined;
    const texts = reading.kind === 'good' ? parseLines(reading.lines) : undefined;
    if (texts === undefined) {
      const reason = reading.kind === 'unusable' ? reading.reason : 'it holds no settings';
      log.error('saved configuration ignored', { file, reason });
    }
    return texts;
  }

  /** Writes settings, soon. */
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

  /** Ends when all is written. */
  async stop(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { file, owner, clock, log } = this.#options;
    for (let lines = this.#waiting; lines !== undefined; lines = this.#waiting) {
      this.#waiting = undefined;
      try {
        await writeSnapshot(file, owner, lines, clock.now());
      } catch (error) {
        log.error('cannot save configuration', {
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    }
  }
}

function parseLines(lines: Iterable<string>): ConfigTexts | undefined {
  const texts = new Map<string, { readonly kind: 'text'; readonly text: string }>();
  for (const line of lines) {
    const [key, text] = parseList(line);
    if (typeof key !== 'string' || typeof text !== 'string') return undefined;
    texts.set(key, { kind: 'text', text });
  }
  return texts;
}

function parseList(line: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
