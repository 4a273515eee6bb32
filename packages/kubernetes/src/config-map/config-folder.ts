/**
 * A ConfigMap mounted as a folder: one file per key. Each swap of its files is one change.
 */
import { basename } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { type FileChange, FolderFollower } from '@portolan/sources/folder-follower.ts';
import { type ConfigText, type ConfigTexts, decodeConfigText } from './config-texts.ts';

export interface ConfigFolderOptions {
  readonly directory: string;
  /** Files with other names are ignored. */
  readonly keys: readonly string[];
  /** Milliseconds between two checks without notifications of the system. */
  readonly period: number;
  /** Called with all texts at first, and then after each change. */
  readonly onChange: (texts: ConfigTexts) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reading the folder without pauses would take processor time from clients. */
const MIN_PERIOD = 100;

export class ConfigFolder {
  readonly #follower: FolderFollower;
  readonly #texts = new Map<string, ConfigText>();
  readonly #onChange: (texts: ConfigTexts) => void;

  constructor({ directory, keys, period, onChange, clock, log }: ConfigFolderOptions) {
    this.#onChange = onChange;
    this.#follower = new FolderFollower({
      folder: directory,
      accepts: (name) => keys.includes(name),
      period: Math.max(period, MIN_PERIOD),
      // The ConfigMap of the volume may be optional and missing.
      mayBeMissing: true,
      clock,
      log,
      onChange: (changes) => this.#take(changes),
    });
  }

  /** Reads the folder, and follows it from then on. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  stop(): void {
    this.#follower.stop();
  }

  #take(changes: readonly FileChange[]): void {
    for (const change of changes) {
      const key = basename(change.file);
      if (change.kind === 'content') this.#texts.set(key, decodeConfigText(change.octets));
      else if (change.kind === 'gone') this.#texts.delete(key);
      else this.#texts.set(key, { kind: 'unreadable', reason: change.reason });
    }
    this.#onChange(new Map(this.#texts));
  }
}
