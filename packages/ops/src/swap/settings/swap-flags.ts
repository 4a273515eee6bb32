/**
 * The flags of `portolan swap`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import { readServer, type ServerPlace } from '../../compare/settings/compare-flags.ts';
import { readWorkload, WORKLOAD_FLAGS, type WorkloadPlan } from '../../preflight/settings/preflight-flags.ts';

export const SWAP_FLAGS = [
  ...WORKLOAD_FLAGS,
  {
    name: 'image',
    valueName: 'image',
    value: { kind: 'text', of: 'an image' },
    help: 'image of Portolan, as registry.example/portolan:TAG; the name of the part is added, as in portolan-coredns',
  },
  { name: 'back', value: 'none', help: 'set the images from before the last swap' },
  { name: 'apply', value: 'none', help: 'change the cluster; without it the server only checks the change' },
  {
    name: 'watch',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '10m',
    help: 'how long the rollout and the answers are watched; a failure in this time is rolled back',
  },
  {
    name: 'server',
    valueName: 'address',
    value: { kind: 'text', of: 'an address' },
    defaultNote: 'the address of the Service',
    help: 'address at which the DNS of the cluster is asked meanwhile, as 10.96.0.10 or 127.0.0.1:5353',
  },
  {
    name: 'question',
    valueName: 'name',
    value: { kind: 'text', of: 'a name' },
    default: 'kubernetes.default.svc.cluster.local',
    help: 'name whose address is asked for',
  },
  {
    name: 'ignore',
    valueName: 'check',
    value: { kind: 'text', of: 'a check of portolan preflight' },
    defaultNote: 'none',
    help: 'check of the preflight whose findings do not prevent the swap',
    repeats: true,
  },
] as const satisfies readonly Flag[];

export type SwapFlags = FlagsOf<typeof SWAP_FLAGS>;

export interface SwapPlan extends WorkloadPlan {
  /** Undefined: back to the former images. */
  readonly image: string | undefined;
  readonly isApplied: boolean;
  /** Milliseconds. */
  readonly watch: number;
  /** Undefined: the address of the Service. */
  readonly server: ServerPlace | undefined;
  readonly question: string;
  readonly ignored: readonly string[];
}

export function planFromSwapFlags(flags: SwapFlags): Checked<SwapPlan> {
  const read = createFlagReader(SWAP_FLAGS, flags);
  const workload = readWorkload(flags, read.problems);
  const { server, image, back = false, apply = false, ignore = [] } = flags;
  const place = server === undefined ? undefined : readServer(read, '--server', server);
  const watch = read.value('watch');
  const question = read.nonEmpty('--question', flags.question, 'a name');
  if (back === (image !== undefined && image !== ''))
    read.addProblem(
      '--image',
      'one of --image and --back is needed',
      image,
      'Give the image, or --back to return.',
    );
  const { problems } = read;
  if (problems.length > 0 || workload === undefined) return { kind: 'bad', problems };
  const value = {
    ...workload,
    image: back ? undefined : image,
    isApplied: apply,
    watch,
    server: place,
    question: question ?? 'kubernetes.default.svc.cluster.local',
    ignored: ignore,
  };
  return { kind: 'good', value };
}
