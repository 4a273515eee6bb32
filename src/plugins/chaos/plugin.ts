/**
 * `chaos`: describes the server in class CHAOS.
 */
import { hostname } from 'node:os';
import { definePlugin } from '../../contract/define-plugin.ts';
import { COREDNS_VERSION } from '../../corefile/coredns-version.ts';
import { createIdentityHandler, type IdentityDependencies } from './identity.ts';
import type { ChaosOptions } from './options.ts';

const MAX_LENGTH = 255;

/** `chaos [VERSION] [AUTHORS…]`. Source: plugin/chaos of CoreDNS 1.14.7. */
export const chaos = definePlugin({
  name: 'chaos',
  answers: true,
  syntax: ['chaos [VERSION] [AUTHORS…]'],
  read(cursor): ChaosOptions {
    let version: string | undefined;
    let authors: readonly string[] | undefined;
    cursor.firstUse(() => {
      const [first, ...others] = cursor.remainingArguments();
      // As in CoreDNS, a version with authors behind it is not cut.
      version = others.length === 0 ? first?.slice(0, MAX_LENGTH) : first;
      if (others.length > 0)
        authors = [...new Set(others.map((author) => author.slice(0, MAX_LENGTH)))].sort();
      if (cursor.nextInBlock())
        throw cursor.error(
          `unknown property '${cursor.word}'`,
          'Take the block out: there are no properties.',
        );
    });
    return { version, authors };
  },
  create: (options) => ({ handler: createIdentityHandler(options, identify()) }),
});

/** Defaults for class CHAOS: the version of CoreDNS that we replace, and our own authors. */
function identify(): IdentityDependencies {
  return {
    hostName: hostname(),
    version: `CoreDNS-${COREDNS_VERSION}`,
    authors: ['The authors of Portolan'],
  };
}
