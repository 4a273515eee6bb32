/**
 * `grpc`: questions that go to other servers by gRPC, as CoreDNS has it.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type DirectiveContext,
  type Draft,
  fallthroughZones,
} from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseZones } from '@portolan/corefile/keys/zone-name.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { BLOCK } from '@portolan/kernel/contract/services.ts';
import { readTlsFiles } from '../forward/read-tls-files.ts';
import { Grpc } from './grpc.ts';
import type { GrpcOptions, GrpcPolicy } from './options.ts';
import { readServers } from './read-servers.ts';

const MAX_SERVERS = 15;
const POLICIES: readonly GrpcPolicy[] = ['random', 'round_robin', 'sequential'];

/** Source: plugin/grpc of CoreDNS 1.14.7. */
export const grpc = definePlugin({
  name: 'grpc',
  answers: true,
  syntax: [
    'grpc FROM TO… {',
    '    except ZONES…',
    '    tls [CERTIFICATE KEY] [AUTHORITIES]',
    '    tls_servername NAME',
    '    policy random|round_robin|sequential',
    '    fallthrough [ZONES…]',
    '}',
  ],
  read(cursor, context): GrpcOptions {
    let options: GrpcOptions = DEFAULTS;
    cursor.onlyUse(() => {
      options = readGrpc(cursor, context);
    });
    return options;
  },
  create(options: GrpcOptions, context) {
    const { handlerNames } = context.use(BLOCK);
    return new Grpc(options, { ...context, isLast: () => handlerNames().at(-1) === 'grpc' });
  },
});

const DEFAULTS: GrpcOptions = {
  from: ROOT,
  except: [],
  servers: [],
  tls: undefined,
  policy: 'random',
  fallthrough: [],
};

function readGrpc(cursor: DirectiveCursor, context: DirectiveContext): GrpcOptions {
  const source = cursor.requiredArgument();
  const [from] = parseZones([source]);
  if (from === undefined)
    throw cursor.bareError(`unable to normalize '${source}'`, 'Name a zone, or a dot for all names.');
  const words = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError('Name the servers to ask, as in 192.0.2.1:443.');
  const servers = readServers(words, cursor, context);
  const draft: Draft<GrpcOptions> = { ...DEFAULTS, from, servers };
  let serverName: string | undefined;
  cursor.properties({
    except: () => {
      const zones = cursor.remainingArguments();
      if (zones.length === 0) throw cursor.argumentError('Name the zones that are not asked for.');
      draft.except = [...draft.except, ...parseZones(zones)];
    },
    tls: () => {
      draft.tls = { ...readTlsFiles(cursor, context), serverName: undefined };
    },
    tls_servername: () => {
      serverName = cursor.requiredArgument();
    },
    policy: () => {
      draft.policy = readPolicy(cursor);
    },
    fallthrough: () => {
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
    },
  });
  if (serverName !== undefined) draft.tls = { ...draft.tls, serverName };
  if (servers.length > MAX_SERVERS)
    throw cursor.bareError(
      `more than ${MAX_SERVERS} TOs configured: ${servers.length}`,
      'Take some servers out.',
    );
  return draft;
}

function readPolicy(cursor: DirectiveCursor): GrpcPolicy {
  const word = cursor.requiredArgument();
  const policy = POLICIES.find((known) => known === word);
  if (policy === undefined) throw cursor.error(`unknown policy '${word}'`, `Give ${POLICIES.join(', ')}.`);
  return policy;
}
