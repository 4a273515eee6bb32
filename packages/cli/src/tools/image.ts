/**
 * `portolan image`: builds an image of this program as an archive, without Docker and without a registry.
 */
import { IMAGE_FLAGS, planFromImageFlags } from '@portolan/ops/image/settings/image-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { VERSION } from '../process/version.ts';

export const runImage: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: IMAGE_FLAGS }, async (flags) => {
    const plan = exitOnProblems(command.name, planFromImageFlags(flags, VERSION, process.arch));
    const { buildImage } = await import('./build-image.ts');
    await buildImage(plan);
  });
};
