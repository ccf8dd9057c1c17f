import { choiceOutputOf, commands, entryPoints, outputOf, runtimeChoices, sourcesByName } from '../entry-points.ts'
import { formatted, read } from '../repository.ts'
import type { Generator } from './generator.ts'

type Json = Record<string, unknown>

const FORMATS = { import: { types: 'd.ts', folder: 'dist' }, require: { types: 'd.cts', folder: 'dist/cjs' } } as const

/** What package.json, tsconfig.base.json and typedoc.json say about entry points. */
export const entryPointFiles: Generator = {
  name: 'entry-points',
  generate: () =>
    new Map([
      edited('package.json', packageFields),
      edited('tsconfig.base.json', ({ compilerOptions }) => ({
        compilerOptions: { ...(compilerOptions as Json), paths: paths() },
      })),
      edited('typedoc.json', () => ({ entryPoints: entryPoints.map(({ source }) => source) })),
    ]),
}

/** A file of JSON with some fields replaced, each in the place where it was. */
function edited(file: string, fields: (content: Json) => Json): [string, string] {
  const content = JSON.parse(read(file)) as Json
  return [file, formatted(file, JSON.stringify({ ...content, ...fields(content) }, null, 2))]
}

function packageFields(): Json {
  return {
    main: './dist/cjs/index.js',
    module: './dist/index.js',
    types: './dist/index.d.ts',
    // For resolvers that do not read `exports`.
    typesVersions: {
      '*': Object.fromEntries(
        entryPoints
          .filter(({ name }) => name !== '.')
          .map((entry) => [outputOf(entry), [`./dist/${outputOf(entry)}.d.ts`]]),
      ),
    },
    exports: {
      ...Object.fromEntries(entryPoints.map((entry) => [entry.name, formats(outputOf(entry))])),
      './package.json': './package.json',
    },
    imports: Object.fromEntries(runtimeChoices.map((choice) => [choice.name, choiceOf(choice)])),
    ...(commands.length > 0 && { bin: Object.fromEntries(commands.map(({ name }) => [name, './dist/cli.js'])) }),
  }
}

const formats = (output: string): Json =>
  Object.fromEntries(
    Object.entries(FORMATS).map(([format, { types, folder }]) => [
      format,
      { types: `./dist/${output}.${types}`, default: `./${folder}/${output}.js` },
    ]),
  )

const choiceOf = (choice: (typeof runtimeChoices)[number]): Json =>
  Object.fromEntries(
    Object.entries(FORMATS).map(([format, { folder }]) => [
      format,
      {
        node: `./${folder}/${choiceOutputOf(choice, 'node')}.js`,
        default: `./${folder}/${choiceOutputOf(choice, 'default')}.js`,
      },
    ]),
  )

const paths = (): Json =>
  Object.fromEntries(Object.entries(sourcesByName).map(([name, source]) => [name, [`./${source}`]]))
