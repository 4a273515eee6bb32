/**
 * Reads the files of a dnsmasq configuration from disk.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ConfigSources, Failed, FolderEntry } from '@portolan/frontends/dnsmasq/settings/sources.ts';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';

/** Sources that keep standard input after reading it, so that it can be passed to another process. */
export interface ProcessSources extends ConfigSources {
  /** The contents of standard input; undefined if it was not read. */
  readonly standardInput: Uint8Array | undefined;
}

export function createProcessSources(): ProcessSources {
  let standardInput: Uint8Array | undefined;
  return {
    get standardInput() {
      return standardInput;
    },
    readFile(path) {
      try {
        const { dev, ino } = statSync(path);
        return { kind: 'read', bytes: readFileSync(path), identity: `${dev}:${ino}` };
      } catch (error) {
        return failed(error);
      }
    },
    listFolder(path) {
      try {
        const names = readdirSync(path);
        return { kind: 'read', entries: names.map((name) => ({ name, kind: findKind(join(path, name)) })) };
      } catch (error) {
        return failed(error);
      }
    },
    readStandardInput() {
      standardInput ??= readFileSync(0);
      return standardInput;
    },
    hostName: hostname,
  };
}

function findKind(path: string): FolderEntry['kind'] {
  try {
    return statSync(path).isFile() ? 'file' : 'other';
  } catch {
    return 'lost';
  }
}

function failed(error: unknown): Failed {
  const code = findErrorCode(error) ?? String(error);
  return { kind: 'failed', missing: code === 'ENOENT', reason: code };
}
