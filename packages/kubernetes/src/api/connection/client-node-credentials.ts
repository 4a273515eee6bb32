/**
 * Credentials that come from another program or an identity provider: the `exec` and `auth-provider` kinds.
 *
 * They are rare in a cluster and common on a workstation. @kubernetes/client-node handles them and is loaded only when
 * needed: it costs 67 MB and half a second.
 */
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { needPrograms } from '@portolan/kernel/base/other-programs.ts';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';
import { ClusterConfigurationError } from './errors.ts';
import type { KubeconfigEntry } from './kubeconfig-file.ts';
import type { ExternalAuthentication, ExternalCredentials } from './settings.ts';

/** The major version of the optional peer dependency. */
const CLIENT_NODE_MAJOR = 1;

/** The part of @kubernetes/client-node that we use: it fills in the options of a request. */
interface ClientNodeConfig {
  loadFromOptions(options: unknown): void;
  applyToHTTPSOptions(options: FilledOptions): Promise<void>;
}

interface FilledOptions {
  headers?: Record<string, unknown>;
  cert?: string | Buffer;
  key?: string | Buffer;
}

export type LoadClientNode = () => Promise<unknown>;

/** `as string`, because the package may be absent: it is an optional dependency. */
export const loadClientNode: LoadClientNode = () => import('@kubernetes/client-node' as string);

/** Milliseconds; a plugin that prompts the user would never end. */
const PATIENCE = 60_000;

/** @throws {ClusterConfigurationError} if @kubernetes/client-node is not installed */
export async function makeClientNodeCredentials(
  user: KubeconfigEntry,
  clock: Clock,
  load: LoadClientNode,
): Promise<ExternalCredentials> {
  const field = 'exec' in user.fields ? 'exec' : 'auth-provider';
  needPrograms(`${user.file}: ${field} of ${user.name}`);
  const KubeConfig = await loadKubeConfig(user, field, load);
  const what = field === 'exec' ? `the command of ${user.name}` : `the auth-provider of ${user.name}`;
  return new ClientNodeCredentials(() => configure(KubeConfig, user), what, clock);
}

class ClientNodeCredentials implements ExternalCredentials {
  readonly #make: () => ClientNodeConfig;
  readonly #what: string;
  readonly #clock: Clock;
  #config: ClientNodeConfig;
  #running: Promise<ExternalAuthentication> | undefined;
  /** The run of the command that has not ended, with what it fills in. */
  #run: { readonly options: FilledOptions; readonly filled: Promise<void> } | undefined;

  constructor(make: () => ClientNodeConfig, what: string, clock: Clock) {
    this.#make = make;
    this.#what = what;
    this.#clock = clock;
    this.#config = make();
  }

  /** Concurrent requests share one run of the command. */
  authenticate(): Promise<ExternalAuthentication> {
    this.#running ??= this.#fill().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The configuration holds the cache, so a new one starts empty. */
  expire(): void {
    this.#config = this.#make();
  }

  async #fill(): Promise<ExternalAuthentication> {
    // A command that hangs is waited for again, not started once more: such processes would pile up.
    this.#run ??= this.#startRun();
    const { options, filled } = this.#run;
    try {
      await this.#inTime(filled);
    } catch (error) {
      // The plugin's output may contain a secret: do not repeat it.
      const lacks = findErrorCode(error) === 'ENOENT';
      const problem = lacks ? 'was not found' : 'gave no credentials';
      throw new Error(`${this.#what} ${problem}; run it by hand, as the user that runs Portolan, to see why`);
    }
    const { headers, cert, key } = options;
    const authorization = headers?.['Authorization'];
    const pair = cert === undefined || key === undefined ? undefined : { cert, key };
    return {
      headers: typeof authorization === 'string' ? { authorization } : {},
      certificate: pair && { certificate: Buffer.from(pair.cert), key: Buffer.from(pair.key) },
    };
  }

  #startRun(): { readonly options: FilledOptions; readonly filled: Promise<void> } {
    const options: FilledOptions = { headers: {} };
    const filled = this.#config.applyToHTTPSOptions(options).finally(() => {
      this.#run = undefined;
    });
    return { options, filled };
  }

  #inTime(work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(PATIENCE, () => reject(new Error('too late')));
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

type KubeConfigClass = new () => ClientNodeConfig;

async function loadKubeConfig(
  user: KubeconfigEntry,
  field: string,
  load: LoadClientNode,
): Promise<KubeConfigClass> {
  try {
    const module = await load();
    // The type matches the version in package-lock.json.
    return (module as { readonly KubeConfig: KubeConfigClass }).KubeConfig;
  } catch {
    const command = `npm install @kubernetes/client-node@${CLIENT_NODE_MAJOR}`;
    const remedy = `run '${command}' (with --global if Portolan is installed so), or use a token or a client certificate`;
    const { message } = user.error(field, `needs @kubernetes/client-node, which is not installed: ${remedy}`);
    throw new ClusterConfigurationError(message, user.file, field);
  }
}

function configure(KubeConfig: KubeConfigClass, user: KubeconfigEntry): ClientNodeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'cluster', server: 'https://unused.invalid', skipTLSVerify: false }],
    contexts: [{ name: 'context', cluster: 'cluster', user: user.name }],
    users: [{ name: user.name, exec: readExec(user), authProvider: user.fields['auth-provider'] }],
    currentContext: 'context',
  });
  return config;
}

/** A command with a slash is relative to the kubeconfig's folder. `interactive: false` keeps it from prompting the user. */
function readExec(user: KubeconfigEntry): unknown {
  const exec = user.fields['exec'];
  if (typeof exec !== 'object' || exec === null) return undefined;
  const { command, env, apiVersion } = exec as Readonly<Record<string, unknown>>;
  if (typeof command !== 'string') throw user.error('exec.command', 'must be text');
  const relative = command.includes('/') && !isAbsolute(command);
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  return {
    ...exec,
    command: relative ? resolve(dirname(user.file), command) : command,
    env: [...(Array.isArray(env) ? env : []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }],
  };
}
