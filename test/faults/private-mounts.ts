/**
 * Runs the program with private mounts, where it finds a service account like a pod's, or a small disk. Other processes of the
 * machine do not see them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** Of util-linux: gives the program that it runs mounts of its own. */
const UNSHARE = 'unshare';

function canMount(): boolean {
  try {
    execFileSync(UNSHARE, ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Whether we may mount at all: as root, in a container only with the right to administer. */
export const mayMount = canMount();

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** For `through`: runs the program with this folder in the place of the service account's. */
export function withServiceAccount(folder: string): readonly string[] {
  const script = [
    'mount -t tmpfs none /var/run',
    `mkdir -p ${SERVICE_ACCOUNT}`,
    `mount --bind "$0" ${SERVICE_ACCOUNT}`,
    'exec "$@"',
  ];
  return [UNSHARE, '-m', 'sh', '-c', script.join(' && '), folder];
}

export interface Disk {
  /** For `through`: runs the program where the disk is. */
  readonly through: readonly string[];
  /** Where the test finds a file that the program knows by this path. */
  locate(path: string): string;
}

/** A file system of so many octets in the place of a folder, until the test ends. */
export async function mountSmallDisk(folder: string, octets: number): Promise<Disk> {
  const script = `mount -t tmpfs -o size=${octets} none "$0" && echo mounted && exec cat`;
  // It keeps the mount as long as its input is open.
  const keeper = spawn(UNSHARE, ['-m', 'sh', '-c', script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void keeper.kill('SIGKILL'));
  await once(keeper.stdout, 'data');
  return {
    through: ['nsenter', '-m', '-t', String(keeper.pid)],
    locate: (path) => `/proc/${keeper.pid}/root${path}`,
  };
}
