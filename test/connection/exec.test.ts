/**
 * Credentials from a command, through the real @kubernetes/client-node.
 */
import { chmod } from 'node:fs/promises';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { ask, connect, kubeconfig, startServer, tokens } from './harness.ts';

test('authenticates by the command of a kubeconfig, beside which it lies', async () => {
  const server = await startServer({ access: tokens });
  const folder = await makeTemporaryFolder();
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'a-secret' },
  };
  const command = await folder.write(
    'give-token',
    `#!/bin/sh\n[ "$WHO" = me ] && [ -n "$KUBERNETES_EXEC_INFO" ] && echo '${JSON.stringify(credential)}'\n`,
  );
  await chmod(command, 0o755);
  const exec = {
    apiVersion: credential.apiVersion,
    command: './give-token',
    env: [{ name: 'WHO', value: 'me' }],
    interactiveMode: 'Never',
  };
  const file = await folder.write('config', kubeconfig({ server: server.url, user: { exec } }));
  const connection = await connect({ kubecfgFile: file });
  expect(await ask(connection)).toBe(200);
  expect(server.requests.at(-1)?.user).toMatch(/^portolan/);
});
