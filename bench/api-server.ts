/**
 * The process of the API server double, as seen by the benchmarks.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notice, Order } from './api-server-orders.ts';
import type { ClusterShape } from './cluster.ts';
import type { Workplace } from './workplace.ts';

type NoticeOf<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>;

/** The kubeconfig file of the real API server that the environment names, if it does: `KUBECONFIG=/path/to/file`. */
export function findGivenCluster(): string | undefined {
  const path = process.env['KUBECONFIG'];
  return path === '' ? undefined : path;
}

export class ApiServer {
  readonly #child: ChildProcess;
  readonly #notices = new EventEmitter();
  /** The file that servers find it by. */
  readonly kubeconfig: string;
  #url = '';
  #firstAnswerAt: number | undefined;

  private constructor(child: ChildProcess, kubeconfig: string) {
    this.#child = child;
    this.kubeconfig = kubeconfig;
    child.on('message', (notice: Notice) => {
      if (notice.kind === 'listening') this.#url = notice.url;
      if (notice.kind === 'first-answer') this.#firstAnswerAt = notice.at;
      this.#notices.emit(notice.kind, notice);
    });
    child.once('exit', (code) => {
      if (code !== 0 && code !== null)
        this.#notices.emit('error', new Error(`the API server double ended: exit code ${code}`));
    });
  }

  static async start({ folder }: Workplace, shape: ClusterShape): Promise<ApiServer> {
    const child = fork(join(folder, 'api-server-process.mjs'), [JSON.stringify(shape)]);
    const server = new ApiServer(child, join(folder, `kubeconfig-${child.pid}`));
    await server.#next('listening');
    await writeFile(server.kubeconfig, describeAccess(server.#url, join(folder, 'tls', 'authority.crt')));
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** When the first request was answered whole, by the machine's clock. */
  get firstAnswerAt(): number | undefined {
    return this.#firstAnswerAt;
  }

  /** @returns when the event was sent, by the machine's clock */
  async pointProbe(address: string): Promise<number> {
    const { at } = await this.#order({ kind: 'point-probe', address }, 'probe-pointed');
    return at;
  }

  startChanges(perSecond: number): void {
    this.#send({ kind: 'start-changes', perSecond });
  }

  startSlices(perSecond: number): void {
    this.#send({ kind: 'start-slices', perSecond });
  }

  /** @returns how many changes were made a second, in fact */
  async stopChanges(): Promise<number> {
    const { changes, milliseconds } = await this.#order({ kind: 'stop-changes' }, 'changes-stopped');
    return (changes * 1000) / milliseconds;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #send(order: Order): void {
    this.#child.send(order);
  }

  #order<Kind extends Notice['kind']>(order: Order, kind: Kind): Promise<NoticeOf<Kind>> {
    const notice = this.#next(kind);
    this.#send(order);
    return notice;
  }

  async #next<Kind extends Notice['kind']>(kind: Kind): Promise<NoticeOf<Kind>> {
    const [notice] = await once(this.#notices, kind);
    return notice as NoticeOf<Kind>; // Emitted under its kind, in the constructor.
  }
}

/** As a pod has it: TLS, and no certificate of its own. */
function describeAccess(server: string, authority: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'double', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'double', user: 'bench' } }],
    'current-context': 'bench',
  });
}
