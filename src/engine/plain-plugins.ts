/**
 * The plugins of our own front ends.
 */
import * as definitions from '../plugins/plain-plugins.ts';
import { createPluginMaker, finderIn } from './server-blocks/plugin-maker.ts';

export const plainPlugins = createPluginMaker(finderIn(Object.values(definitions)));
