/**
 * In-memory files for tests of the dnsmasq front end.
 */
import type { ConfigSources, Failed, FolderEntry } from '../sources.ts';

export interface MemoryFiles {
  /** Contents by path; strings are encoded as UTF-8. Each path is a separate file, even with the same content object. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Symbolic links: target path by path. */
  readonly links?: Readonly<Record<string, string>>;
  readonly standardInput?: string;
  readonly hostName?: string;
}

const MISSING: Failed = { kind: 'failed', missing: true, reason: 'no such file or folder' };

export function memorySources({
  files = {},
  links = {},
  standardInput = '',
  hostName = 'machine',
}: MemoryFiles = {}): ConfigSources {
  return {
    readFile(path) {
      const identity = links[path] ?? path;
      const content = files[identity];
      return content === undefined ? MISSING : { kind: 'read', bytes: Buffer.from(content), identity };
    },
    listFolder(path) {
      const paths = [...Object.keys(files), ...Object.keys(links)].filter((name) =>
        name.startsWith(`${path}/`),
      );
      if (paths.length === 0) return MISSING;
      return { kind: 'read', entries: paths.map((name) => toFolderEntry(name.slice(path.length + 1))) };
    },
    readStandardInput: () => Buffer.from(standardInput),
    hostName: () => hostName,
  };
}

function toFolderEntry(rest: string): FolderEntry {
  const [name = ''] = rest.split('/');
  return { name, kind: rest.includes('/') ? 'other' : 'file' };
}
