/**
 * Reads the settings of one cluster from a merged kubeconfig and a context.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { fixedBytes, RotatingFile } from './byte-source.ts';
import { type LoadClientNode, makeClientNodeCredentials } from './client-node-credentials.ts';
import { ClusterConfigurationError } from './errors.ts';
import type { Kubeconfig, KubeconfigEntry } from './kubeconfig-file.ts';
import { chooseProxy, readProxyAddress } from './proxy.ts';
import { readServerAddress } from './server-address.ts';
import type { ByteSource, ConnectionSettings, UserSettings } from './settings.ts';

export interface ClusterChoice {
  /** Instead of the kubeconfig's current context. */
  readonly context: string | undefined;
  /** Instead of the cluster's server. */
  readonly masterUrl: string | undefined;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly loadClientNode: LoadClientNode;
}

/** @throws {ClusterConfigurationError} */
export async function readCluster(
  kubeconfig: Kubeconfig,
  choice: ClusterChoice,
): Promise<ConnectionSettings> {
  const { name, cluster, user } = follow(kubeconfig, choice);
  const server = readServer(cluster, choice.masterUrl, kubeconfig.files);
  const verify = cluster?.flag('insecure-skip-tls-verify') !== true;
  const authority = cluster === undefined ? undefined : pick(cluster, 'certificate-authority', choice.clock);
  if (cluster !== undefined && !verify && authority !== undefined) {
    throw cluster.error(
      'insecure-skip-tls-verify',
      'cannot stand beside a certificate authority: remove one',
    );
  }
  // The name is for the kubeconfig's server, not for an overriding one, as with kubectl.
  const tlsServerName = choice.masterUrl === undefined ? cluster?.text('tls-server-name') : undefined;
  const context = name === undefined ? '' : `, context ${name}`;
  return {
    server,
    source: `kubeconfig ${kubeconfig.files.join(':')}${context}`,
    authority,
    verify,
    tlsServerName,
    compresses: cluster?.flag('disable-compression') !== true,
    // Credentials are not sent over plain HTTP, so do not read them.
    user: user === undefined || server.protocol === 'http:' ? {} : await readUser(user, choice),
    proxy: readProxy(cluster, server, choice.environment),
  };
}

interface Chosen {
  readonly name: string | undefined;
  readonly cluster: KubeconfigEntry | undefined;
  readonly user: KubeconfigEntry | undefined;
}

function follow(kubeconfig: Kubeconfig, choice: ClusterChoice): Chosen {
  const name = choice.context ?? kubeconfig.currentContext;
  const files = kubeconfig.files.join(':');
  const fail = (problem: string, field: string) =>
    new ClusterConfigurationError(`cannot use kubeconfig: ${files}: ${problem}`, files, field);
  if (name === undefined) {
    if (choice.masterUrl !== undefined) return { name, cluster: undefined, user: undefined };
    throw fail('there is no current-context; name one with --context', 'current-context');
  }
  const context = kubeconfig.contexts.get(name);
  if (context === undefined) {
    const known = [...kubeconfig.contexts.keys()].join(', ');
    const remedy = known === '' ? 'add it to contexts, of which the file has none' : `give one of: ${known}`;
    throw fail(`no such context: ${name}; ${remedy}`, 'contexts');
  }
  const find = (entries: ReadonlyMap<string, KubeconfigEntry>, field: 'cluster' | 'user') => {
    const wanted = context.text(field);
    const entry = wanted === undefined ? undefined : entries.get(wanted);
    if (wanted !== undefined && entry === undefined)
      throw context.error(field, `names no ${field}: ${wanted}`);
    return entry;
  };
  return { name, cluster: find(kubeconfig.clusters, 'cluster'), user: find(kubeconfig.users, 'user') };
}

function readServer(
  cluster: KubeconfigEntry | undefined,
  masterUrl: string | undefined,
  files: readonly string[],
): URL {
  if (masterUrl !== undefined) return readServerAddress(masterUrl, 'cannot use --kube-master-url');
  const text = cluster?.text('server');
  if (cluster === undefined || text === undefined) {
    throw new ClusterConfigurationError(
      `cannot use kubeconfig: ${files.join(':')}: the context names no cluster with a server; set clusters[].cluster.server`,
    );
  }
  try {
    return readServerAddress(text, 'not an address');
  } catch {
    throw cluster.error('server', `is not an http or https address: ${text}`);
  }
}

async function readUser(user: KubeconfigEntry, choice: ClusterChoice): Promise<UserSettings> {
  const token = readToken(user, choice.clock);
  const username = user.text('username');
  const password = user.text('password');
  const basic =
    username === undefined && password === undefined
      ? undefined
      : { username: username ?? '', password: password ?? '' };
  if (token !== undefined && basic !== undefined) {
    throw user.error('username', 'cannot stand beside a token: remove one');
  }
  const external =
    'exec' in user.fields || 'auth-provider' in user.fields
      ? await makeClientNodeCredentials(user, choice.clock, choice.loadClientNode)
      : undefined;
  const headers = readImpersonation(user);
  return { token, basic, certificate: readCertificate(user, choice.clock), external, headers };
}

/** If both are set, only the file counts, as in client-go after its first minute. */
function readToken(user: KubeconfigEntry, clock: Clock): ByteSource | undefined {
  const file = user.path('tokenFile');
  if (file !== undefined) return new RotatingFile(file, clock);
  const token = user.text('token');
  return token === undefined ? undefined : fixedBytes(Buffer.from(token));
}

function readCertificate(user: KubeconfigEntry, clock: Clock): UserSettings['certificate'] {
  const certificate = pick(user, 'client-certificate', clock);
  const key = pick(user, 'client-key', clock);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) throw user.error('client-certificate', 'is missing beside client-key');
  if (key === undefined) throw user.error('client-key', 'is missing beside client-certificate');
  return { certificate, key };
}

/** `<field>-data` takes precedence over `<field>`, which names a file. */
function pick(entry: KubeconfigEntry, field: string, clock: Clock): ByteSource | undefined {
  const bytes = entry.bytes(`${field}-data`);
  if (bytes !== undefined) return fixedBytes(bytes);
  const path = entry.path(field);
  return path === undefined ? undefined : new RotatingFile(path, clock);
}

function readImpersonation(user: KubeconfigEntry): UserSettings['headers'] {
  const as = user.text('as');
  const uid = user.text('as-uid');
  const groups = user.texts('as-groups');
  const extra = user.textLists('as-user-extra');
  if (as === undefined) {
    if (uid === undefined && groups.length === 0 && extra.size === 0) return undefined;
    throw user.error('as', 'is missing beside the other fields of impersonation');
  }
  return {
    'impersonate-user': as,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(
      [...extra].map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
        values,
      ]),
    ),
  };
}

function readProxy(
  cluster: KubeconfigEntry | undefined,
  server: URL,
  environment: Environment,
): URL | undefined {
  const own = cluster?.text('proxy-url');
  if (cluster !== undefined && own !== undefined) {
    const proxy = readProxyAddress(own);
    if (proxy === undefined) throw cluster.error('proxy-url', 'is not an http, https or socks5 address');
    return proxy;
  }
  return readEnvironmentProxy(server, environment);
}

/** @throws {ClusterConfigurationError} */
export function readEnvironmentProxy(server: URL, environment: Environment): URL | undefined {
  const chosen = chooseProxy(server, environment);
  if (chosen === undefined) return undefined;
  const proxy = readProxyAddress(chosen);
  if (proxy === undefined) {
    const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
    throw new ClusterConfigurationError(
      `cannot use the proxy of the environment: ${variable} is not an http, https or socks5 address`,
    );
  }
  return proxy;
}
