/**
 * Pairs of keys in files, as `dnssec-keygen`, `ldns-keygen` and `keymgr` write them: a DNSKEY record, and the numbers of the private key.
 */
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { readDnskeyFields } from '@portolan/dns/dnssec/dnskey.ts';
import { createSigningKey, isKnownAlgorithm, KeyError } from '@portolan/dns/dnssec/signing-key.ts';
import { toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';
import type { NamedKeyPair } from './options.ts';

/** Why files hold no pair of keys. */
export class KeyPairError extends Error {
  override readonly name = 'KeyPairError';
}

type Files = Pick<CorefileFiles, 'read' | 'findKind'>;

/** The path without the ending of either file. */
export function toBasePath(path: string): string {
  return path.replace(/\.(?:key|private)$/, '');
}

/**
 * Reads the pair of keys that a directive names.
 *
 * @param base the path of the files without `.key` and `.private`
 * @throws DirectiveError
 */
export function readKeyPair(
  base: string,
  remedy: string,
  cursor: DirectiveCursor,
  files: Files,
): NamedKeyPair {
  try {
    return readKeyFiles(base, files);
  } catch (error) {
    if (error instanceof KeyPairError) throw cursor.bareError(error.message, remedy);
    throw error;
  }
}

/**
 * Reads both files, and checks that they belong together.
 *
 * @param base the path of the files without `.key` and `.private`
 * @throws KeyPairError
 */
export function readKeyFiles(base: string, files: Files): NamedKeyPair {
  const record = parseRecord(open(`${base}.key`, files));
  if (!('data' in record)) throw new KeyPairError(`${base}.key: ${record.fault}`);
  const { data } = record;
  const dnskey = data.kind === 'unknown' && data.type === TYPE.DNSKEY ? data.bytes : undefined;
  const fields = dnskey && readDnskeyFields(dnskey);
  if (dnskey === undefined || fields === undefined) throw new KeyPairError('no public key found');
  if (!isKnownAlgorithm(fields.algorithm))
    throw new KeyPairError(`${base}.key: no algorithm that signs here: ${fields.algorithm}`);
  const pair = {
    owner: toKey(record.name),
    ttl: record.ttl,
    dnskey,
    fields: readPrivateFields(open(`${base}.private`, files)),
  };
  try {
    createSigningKey(pair);
  } catch (error) {
    if (error instanceof KeyError) throw new KeyPairError(`${base}.private: ${error.message}`);
    throw error;
  }
  return pair;
}

function open(path: string, files: Files): string {
  if (files.findKind(path) === undefined) throw new KeyPairError(`open ${path}: no such file or directory`);
  try {
    return files.read(path);
  } catch (error) {
    throw new KeyPairError(`open ${path}: ${describeSystemError(error)}`);
  }
}

/** The lines with numbers: all of them are in base64. Lines about times and the algorithm are not needed. */
const NUMBER =
  /^(PrivateKey|Modulus|PublicExponent|PrivateExponent|Prime1|Prime2|Exponent1|Exponent2|Coefficient):\s*([A-Za-z0-9+/]+={0,2})\s*$/gm;

function readPrivateFields(text: string): NamedKeyPair['fields'] {
  return new Map(
    [...text.matchAll(NUMBER)].map(([, name = '', value = '']) => [name, Buffer.from(value, 'base64')]),
  );
}
