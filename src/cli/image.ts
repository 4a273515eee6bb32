/**
 * `portolan image`: builds an image of this program as an archive, without Docker and without a registry.
 */
import {
  IMAGE_FLAGS,
  type ImageFlags,
  type ImagePlan,
  planFromImageFlags,
} from '../config/image/image-flags.ts';
import { describeProblem } from '../config/values/problem.ts';
import type { RunCommand } from './command.ts';
import { ExitError } from './exit.ts';
import { addOptions } from './options.ts';
import { createParser, runParser } from './parser.ts';
import { VERSION } from './version.ts';

export const runImage: RunCommand = async (words, command) => {
  const parser = createParser(command).usage('[flags]');
  addOptions(parser, IMAGE_FLAGS);
  parser.action(async (flags: ImageFlags) => {
    const plan = planOrExit(flags);
    const { buildImage } = await import('./build-image.ts');
    await buildImage(plan);
  });
  return await runParser(parser, words);
};

function planOrExit(flags: ImageFlags): ImagePlan {
  const checked = planFromImageFlags(flags, VERSION, process.arch);
  if (checked.kind === 'good') return checked.value;
  process.stderr.write('portolan image: problems with the flags\n');
  for (const problem of checked.problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
  throw new ExitError(2);
}
