/**
 * `sign`: zone files that are signed.
 */
import { join } from 'node:path';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { isKeySigningKey, readDnskeyFields } from '@portolan/dns/dnssec/dnskey.ts';
import type { KeyPair } from '@portolan/dns/dnssec/signing-key.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { readKeyPair, toBasePath } from '../dnssec/key-files.ts';
import type { SignedZone, SignOptions } from './options.ts';

const DEFAULT_DIRECTORY = '/var/lib/coredns';
const KEY_REMEDY =
  'Name the files of a key made with the flag KSK, as in key file Kexample.org.+013+45330, or their folder by key directory.';

/** Finds the keys of a zone. @throws DirectiveError */
type FindKeys = (origin: NameKey) => readonly KeyPair[];

/** Source: plugin/sign of CoreDNS 1.14.7. */
export const sign = definePlugin({
  name: 'sign',
  hasSideEffects: true,
  syntax: ['sign DBFILE [ZONES…] {', '    key file KEY…', '    key directory DIR…', '    directory DIR', '}'],
  read(cursor, context): SignOptions {
    const zones: SignedZone[] = [];
    cursor.eachUse(() => {
      const path = context.resolve(cursor.requiredArgument());
      if (path.includes('\uFFFD'))
        throw cursor.bareError(
          `dbfile ${JSON.stringify(path)} contains invalid characters`,
          'Write the path in UTF-8.',
        );
      const origins = zonesOrBlock(cursor.remainingArguments(), context);
      let directory = DEFAULT_DIRECTORY;
      const sources: FindKeys[] = [];
      let isKeyNamed = false;
      cursor.properties({
        key: () => {
          isKeyNamed = true;
          sources.push(readKeySource(cursor, context));
        },
        directory: () => {
          directory = context.resolve(readDirectory(cursor));
        },
      });
      if (!isKeyNamed) cursor.warn('Without a key no zone is signed. Add key file or key directory.');
      for (const origin of origins) {
        const keys = sources.flatMap((find) => find(origin));
        zones.push({ origin, path, signedPath: join(directory, `db.${origin}signed`), keys });
      }
    });
    return { zones };
  },
  async load() {
    const { Sign } = await import('./sign.ts');
    return { create: (options, context) => new Sign(options, context) };
  },
});

function readDirectory(cursor: DirectiveCursor): string {
  const [directory, ...others] = cursor.remainingArguments();
  if (directory === undefined || others.length > 0)
    throw cursor.bareError(
      'can only be one argument after "directory"',
      'Name one folder, as in directory /var/lib/coredns.',
    );
  return directory;
}

function readKeySource(cursor: DirectiveCursor, context: DirectiveContext): FindKeys {
  const kind = cursor.requiredArgument();
  const paths = cursor.remainingArguments();
  if (kind !== 'file' && kind !== 'directory')
    throw cursor.ownError(`unknown kind of key: ${JSON.stringify(kind)}`, KEY_REMEDY);
  if (paths.length === 0) throw cursor.argumentError(KEY_REMEDY);
  if (kind === 'directory') return (origin) => readFolders(paths, origin, cursor, context);
  const pairs = paths.map((path) => readSigningPair(context.resolve(toBasePath(path)), cursor, context));
  return () => pairs;
}

function readSigningPair(base: string, cursor: DirectiveCursor, { files }: DirectiveContext): KeyPair {
  const { dnskey, fields } = readKeyPair(base, KEY_REMEDY, cursor, files);
  const key = readDnskeyFields(dnskey);
  if (key === undefined || !isKeySigningKey(key))
    throw cursor.bareError(
      `DNSKEY in ${JSON.stringify(`${base}.key`)} is not a CSK/KSK`,
      'Make one as in dnssec-keygen -a ECDSAP256SHA256 -f KSK example.org.',
    );
  return { dnskey, fields };
}

/** The keys of a zone in folders, by the names that the tools give their files. @throws DirectiveError if there are none */
function readFolders(
  folders: readonly string[],
  origin: NameKey,
  cursor: DirectiveCursor,
  context: DirectiveContext,
): readonly KeyPair[] {
  const start = `k${origin}`;
  const pairs = folders.flatMap((folder) => {
    const path = context.resolve(folder);
    return context.files
      .list(path)
      .filter((name) => name.toLowerCase().startsWith(start) && KEY_FILE_END.test(name.slice(start.length)))
      .toSorted()
      .map((name) => readSigningPair(toBasePath(join(path, name)), cursor, context));
  });
  if (pairs.length === 0) throw cursor.ownError(`no key of ${origin} in ${folders.join(', ')}`, KEY_REMEDY);
  return pairs;
}

/** The algorithm and the tag. */
const KEY_FILE_END = /^\+\d{3}\+\d{5}\.key$/;
