/**
 * Reads the Corefile of a recorded start, with its files in memory.
 */
import { readFileSync } from 'node:fs';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { type CorefileReading, readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';

export interface RecordedStart {
  readonly name: string;
  readonly corefile: string;
  /** Texts by their paths below the folder of the case. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Symbolic links and where they lead. */
  readonly links?: Readonly<Record<string, string>>;
  /** What CoreDNS said when it did not start. */
  readonly output?: string;
}

const FOLDER = '/case';
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  DIR: FOLDER,
  PORT: '5300',
  PORT2: '5301',
  PORT3: '5302',
  HEALTH: '5303',
  READY: '5304',
  METRICS: '5305',
  HTTP: '5306',
  ...Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => [`UP${index + 1}`, `127.0.0.1:${5311 + index}`]),
  ),
  ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`UP${index + 1}PORT`, `${5311 + index}`])),
  HOSTNAME: 'host',
};

/** As the recorder puts them into the folder of a case. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  'cert.pem': readFileSync(tlsFixturePath('server.crt'), 'utf8'),
  'key.pem': readFileSync(tlsFixturePath('server.key'), 'utf8'),
};

export function fillPlaceholders(text: string): string {
  return text.replace(/\{([A-Z]+[0-9]*(?:PORT)?)\}/g, (whole, name: string) => PLACEHOLDERS[name] ?? whole);
}

export function readRecorded({ corefile, files = {}, env = {}, links = {} }: RecordedStart): CorefileReading {
  const environment = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, fillPlaceholders(value)]),
  );
  return readCorefile(fillPlaceholders(corefile), {
    file: `${FOLDER}/Corefile`,
    profile: '1.14',
    defaultPort: 5300,
    environment,
    files: filesInMemory({ ...(corefile.includes('cert.pem') && CERTIFICATES), ...files }, links),
    interfaces: new Map([['lo', ['127.0.0.1', '::1']]]),
  });
}

function filesInMemory(
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>>,
): CorefileFiles {
  const texts = new Map(Object.entries(files).map(([path, text]) => [`${FOLDER}/${path}`, text]));
  const paths = [
    ...texts.keys(),
    ...Object.keys(links).map((path) => `${FOLDER}/${path}`),
    `${FOLDER}/Corefile`,
  ];
  // Paths in a Corefile are relative to the folder that the server runs in.
  const absolute = (path: string) => (path.startsWith('/') ? path : `${FOLDER}/${path}`);
  const isFolder = (path: string) => paths.some((known) => known.startsWith(`${path}/`));
  const linked = new Set(Object.keys(links).map((path) => `${FOLDER}/${path}`));
  return {
    read: (path) => texts.get(absolute(path)) ?? '',
    findKind(given) {
      const path = absolute(given).replace(/\/\.$/, '');
      if (texts.has(path)) return 'file';
      if (linked.has(path)) return path.endsWith('..data') ? 'folder' : 'file';
      return isFolder(path) ? 'folder' : undefined;
    },
    list: (folder) =>
      [...new Set(paths.filter((path) => path.startsWith(`${folder}/`)))].map(
        (path) => path.slice(folder.length + 1).split('/')[0] ?? '',
      ),
  };
}
