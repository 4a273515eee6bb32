/**
 * `portolan image`: builds an image of this program as an archive, without Docker and without a registry.
 */
import {
  IMAGE_FLAGS,
  type ImageFlags,
  planFromImageFlags,
} from '@portolan/ops/image/settings/image-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { createParser, runParser } from '../grammar/parser.ts';
import { VERSION } from '../process/version.ts';

export const runImage: RunCommand = async (words, command) => {
  const parser = createParser(command, IMAGE_FLAGS).usage('[flags]');
  parser.action(async (flags: ImageFlags) => {
    const plan = exitOnProblems(command.name, planFromImageFlags(flags, VERSION, process.arch));
    const { buildImage } = await import('./build-image.ts');
    await buildImage(plan);
  });
  return await runParser(parser, words);
};
