/**
 * `geoip`: where the client of a query is, by a database of networks.
 */
import { readFileSync } from 'node:fs';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { Draft } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { describeSystemError, findErrorCode } from '@portolan/kernel/base/system-errors.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { MetadataPlugin } from '../metadata/metadata.ts';
import { ClientFacts } from './client-facts.ts';
import { GeoDatabase } from './database.ts';

export interface GeoipOptions {
  readonly file: string;
  /** Of the database: a plan with another version of the file makes another plugin. */
  readonly version: string;
  readonly usesSubnet: boolean;
}

const REMEDY = 'Name one database in the MaxMind DB format, as in geoip /opt/geoip2/db/GeoLite2-City.mmdb.';

/** `geoip FILE { edns-subnet }`. Source: plugin/geoip of CoreDNS 1.14.7. */
export const geoip = definePlugin({
  name: 'geoip',
  syntax: ['geoip FILE {\n    edns-subnet\n}'],
  read(cursor): GeoipOptions {
    const draft: Draft<GeoipOptions> = { file: '', version: '', usesSubnet: false };
    cursor.eachUse(() => {
      const file = cursor.argument();
      if (file === undefined) throw cursor.argumentError(REMEDY);
      if (draft.file !== '') throw cursor.error('configuring multiple databases is not supported', REMEDY);
      draft.file = file;
      if (cursor.remainingArguments().length > 0) throw cursor.argumentError(REMEDY);
      while (cursor.nextInBlock()) {
        if (cursor.word !== 'edns-subnet')
          throw cursor.error(`unknown property ${JSON.stringify(cursor.word)}`, 'Known here: edns-subnet.');
        draft.usesSubnet = true;
      }
    });
    if (draft.file !== '') draft.version = readVersion(cursor, draft.file);
    return draft;
  },
  create: createGeoip,
});

function readVersion(cursor: DirectiveCursor, file: string): string {
  try {
    return openDatabase(file).version;
  } catch (error) {
    cursor.refuse(cursor.error(describeError(error), REMEDY));
    return '';
  }
}

/** Always a file of this machine: no ConfigMap has room for one. @throws Error in CoreDNS's words */
function openDatabase(file: string): GeoDatabase {
  let octets: Buffer;
  try {
    octets = readFileSync(file);
  } catch (error) {
    // A folder can be opened, but not read.
    const call = findErrorCode(error) === 'EISDIR' ? 'read' : 'open';
    throw new Error(`failed to open database file: ${call} ${file}: ${describeSystemError(error)}`);
  }
  return new GeoDatabase(octets);
}

/** @throws Error: the database has gone since the Corefile was read */
function createGeoip({ file, usesSubnet }: GeoipOptions, context: PluginContext): Plugin {
  const facts = new ClientFacts({ database: openDatabase(file), usesSubnet, log: context.log });
  context.find(MetadataPlugin)?.add(facts);
  return {
    handler: {
      name: 'geoip',
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      handle: (query, next) => next(query),
    },
  };
}
