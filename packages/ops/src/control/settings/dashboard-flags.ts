/**
 * The flags of `portolan dashboard`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';

export const DASHBOARD_FLAGS = [
  {
    name: 'socket',
    valueName: 'file',
    value: { kind: 'file' },
    repeats: true,
    defaultNote: 'the pods of the cluster',
    help: 'control socket of a server on this machine, or @ and its abstract name',
  },
  {
    name: 'namespace',
    valueName: 'namespace',
    value: { kind: 'text', of: 'a namespace' },
    default: 'kube-system',
    help: 'namespace of the pods to ask',
  },
  {
    name: 'selector',
    valueName: 'labels',
    value: { kind: 'text', of: 'a label selector' },
    default: 'k8s-app=kube-dns',
    help: 'labels of the pods to ask',
  },
  {
    name: 'container',
    valueName: 'name',
    value: { kind: 'text', of: 'a container' },
    defaultNote: 'the first one',
    help: 'container of the server in these pods',
  },
  {
    name: 'context',
    valueName: 'name',
    value: { kind: 'text', of: 'a context of the kubeconfig' },
    defaultNote: 'the current one',
    help: 'context that kubectl uses',
  },
  {
    name: 'port',
    valueName: 'port',
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: '0',
    help: 'port on 127.0.0.1 to serve the pages on; 0: any free one',
  },
] as const satisfies readonly Flag[];

export type DashboardFlags = FlagsOf<typeof DASHBOARD_FLAGS>;
