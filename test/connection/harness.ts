/**
 * Clusters to find: servers, kubeconfigs, and requests through the connections found.
 */
import { readFileSync } from 'node:fs';
import {
  type FindClusterOptions,
  findCluster,
  type NoCluster,
} from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { ApiResponse, Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';

export const authority = readFileSync(tlsFixturePath('authority.crt'));

export async function startServer(options: ApiServerOptions = {}): Promise<ApiServerDouble> {
  const double = await ApiServerDouble.start({ tls: 'mutual', ...options });
  onTestFinished(() => double.stop());
  return double;
}

export async function find(options: Partial<FindClusterOptions>): Promise<Connection | NoCluster> {
  const found = await findCluster({ environment: {}, home: undefined, ...options });
  if (found.kind === 'connection') onTestFinished(() => found.close());
  return found;
}

export async function connect(options: Partial<FindClusterOptions>): Promise<Connection> {
  const found = await find(options);
  if (found.kind === 'none') throw new Error(`no cluster: ${found.lookedFor.join('; ')}`);
  return found;
}

export async function ask(connection: Connection, path = '/api/v1/services'): Promise<number> {
  const response = await connection.request(path);
  await readAll(response);
  return response.status;
}

export async function readAll(response: ApiResponse): Promise<string> {
  let text = '';
  for await (const piece of response.body) text += Buffer.from(piece).toString();
  return text;
}

export interface KubeconfigParts {
  readonly server: string;
  readonly cluster?: Record<string, unknown>;
  readonly user?: Record<string, unknown>;
  readonly context?: string;
}

/** JSON is YAML. */
export function kubeconfig({ server, cluster, user, context = 'here' }: KubeconfigParts): string {
  return stringify({
    'current-context': context,
    clusters: [
      {
        name: 'c',
        cluster: { server, 'certificate-authority-data': authority.toString('base64'), ...cluster },
      },
    ],
    users: [{ name: 'u', user: user ?? {} }],
    contexts: [{ name: context, context: { cluster: 'c', user: 'u' } }],
  });
}

export const tokens = { tokens: { 'a-secret': 'portolan' } };
