/**
 * `tls`: certificate and key of the listeners of `tls://` and `https://`.
 */
import { dirname } from 'node:path';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import { type DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import {
  CLIENT_AUTHENTICATIONS,
  type ClientAuthentication,
  type TlsOptions,
} from '@portolan/kernel/listen/secure/tls-identity.ts';
import { readIdentity } from './read-identity.ts';

/** `tls CERT KEY [CA] { client_auth MODE; keylog FILE }`. Source: plugin/tls of CoreDNS 1.14.7. */
export const tls = definePlugin({
  name: 'tls',
  syntax: [
    'tls CERT KEY [CA] {',
    `    client_auth ${CLIENT_AUTHENTICATIONS.join('|')}`,
    '    keylog FILE',
    '}',
  ],
  read(cursor, context): TlsOptions | undefined {
    let options: TlsOptions | undefined;
    cursor.eachUse(() => {
      options = readUse(cursor, context) ?? options;
    });
    return options;
  },
});

function readUse(cursor: DirectiveCursor, context: DirectiveContext): TlsOptions | undefined {
  const words = cursor.remainingArguments();
  if (words.length === 0) {
    refuseAcme(cursor);
    return undefined;
  }
  if (words.length < 2 || words.length > 3) throw twiceNamed(cursor.argumentError());
  const [certificate = '', key = '', authorities] = words.map((path) => context.resolve(path));
  const place = cursor.bareError('', 'Name a certificate with its chain and its key, both in PEM form.');
  let clientAuthentication: ClientAuthentication = 'nocert';
  let keyLog: string | undefined;
  cursor.properties(
    {
      client_auth: () => {
        clientAuthentication = readAuthentication(cursor);
      },
      keylog: () => {
        keyLog = context.resolve(cursor.remainingBetween(1, 1)[0] ?? '');
        if (context.files.findKind(dirname(keyLog)) !== 'folder')
          throw cursor.error(
            `unable to write TLS Key Log to ${JSON.stringify(keyLog)}: open ${keyLog}: no such file or directory`,
            'Name a file in a folder that exists.',
          );
        cursor.warn(
          'Who can read this file can decrypt captured packets of clients. Take keylog out after debugging.',
          `Writing TLS Key Log to ${JSON.stringify(keyLog)}`,
        );
      },
    },
    (name) => cursor.error(`unknown option '${name}'`, 'Known here: client_auth, keylog.'),
  );
  const options = { certificate, key, authorities, clientAuthentication, keyLog };
  try {
    readIdentity(options, (path) => readFile(path, context));
  } catch (error) {
    const reason = describeError(error);
    throw new DirectiveError(`could not load TLS cert: ${reason}`, place.position, place.remedy);
  }
  return options;
}

/** @throws Error as Node does */
function readFile(path: string, { files }: DirectiveContext): string {
  if (files.findKind(path) === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
  return files.read(path);
}

function readAuthentication(cursor: DirectiveCursor): ClientAuthentication {
  const [word = ''] = cursor.remainingBetween(1, 1);
  const known = CLIENT_AUTHENTICATIONS.find((one) => one === word);
  if (known === undefined)
    throw cursor.error(
      `unknown authentication type '${word}'`,
      `Known here: ${CLIENT_AUTHENTICATIONS.join(', ')}.`,
    );
  return known;
}

/** CoreDNS writes the plugin's name twice here. */
function twiceNamed({ message, position, remedy }: DirectiveError): DirectiveError {
  return new DirectiveError(`plugin/tls: ${message}`, position, remedy);
}

/** `tls` without files gets them by ACME. */
function refuseAcme(cursor: DirectiveCursor): void {
  const remedy = 'Let an ACME client, such as cert-manager, write the files, and name them: tls CERT KEY.';
  let isNamed = false;
  while (cursor.nextInBlock()) {
    isNamed ||= cursor.word === 'acme';
    cursor.remainingArguments();
  }
  throw cursor.bareError(
    isNamed ? 'acme is not built into Portolan' : 'ACME requires at least one domain',
    remedy,
  );
}
