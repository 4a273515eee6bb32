/** Style sheets, which esbuild collects into one file. */
declare module '*.css';
