#!/usr/bin/env node
// Starts the built program; scripts/build.ts puts this file into the package. The program starts fifty times a day, and most of what
// such a start takes is to compile functions. Node keeps what it compiles when it loads a file; but functions are compiled when they
// are first called. So the scripts are loaded here, and what was compiled by the time they are done is kept for the next start.
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs')
const { hash } = process.getBuiltinModule('node:crypto')
const { Script, constants } = process.getBuiltinModule('node:vm')

/** Which build is in ../dist. */
const BUILD = ''
const DIST = `${__dirname}/../dist`
const DIGEST_BYTES = 32

/** In a folder of one's own, since whoever can write there is obeyed. */
function compiledFolder() {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA, NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE } = process.env
  const cache = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`) || LOCALAPPDATA
  if (!cache || NODE_DISABLE_COMPILE_CACHE) return undefined
  // V8 refuses what was compiled by another V8 or with other flags.
  const flags = encodeURIComponent([...process.execArgv, NODE_OPTIONS].join('')).slice(0, 100)
  return `${cache}/strongroom/compiled/${BUILD}-${process.version}-${process.arch}${flags}`
}

/** V8 looks at the length of what it is given and no further, so it is looked at here. */
function compiledIn(path) {
  if (!existsSync(path)) return undefined
  const kept = readFileSync(path)
  const data = kept.subarray(DIGEST_BYTES)
  return hash('sha256', data, 'buffer').equals(kept.subarray(0, DIGEST_BYTES)) ? data : undefined
}

/** What a start is of, as far as that decides which functions are called: the command and its flags, without what they are given. */
function kindOfStart() {
  const [command = '', ...more] = process.argv.slice(2)
  const end = more.indexOf('--')
  const flags = (end < 0 ? more : more.slice(0, end)).filter((word) => word.startsWith('-'))
  return [command, ...flags.map((flag) => flag.split('=')[0]).sort()].join(' ')
}

const MOST_STARTS = 100
const SETTLED_MS = 2000

/** What was compiled is kept when something was missing, and after the first two starts of each kind. */
function keepCompiled(folder, scripts) {
  const starts = existsSync(`${folder}/starts`) ? readFileSync(`${folder}/starts`, 'utf8').split('\n') : []
  const kind = kindOfStart()
  const isNew = starts.length < MOST_STARTS && starts.filter((one) => one === kind).length < 2
  const write = (name, content) => {
    const draft = `${folder}/${name}.${process.pid}`
    writeFileSync(draft, content, { mode: 0o600 })
    renameSync(draft, `${folder}/${name}`)
  }
  let isKept = false
  const keep = () => {
    const isMissing = [...scripts.values()].some(({ cachedDataRejected }) => cachedDataRejected !== false)
    if (isKept || !(isNew || isMissing)) return
    isKept = true
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      for (const [name, script] of scripts) {
        const data = script.createCachedData()
        write(name, Buffer.concat([hash('sha256', data, 'buffer'), data]))
      }
      if (isNew) write('starts', [...starts, kind].join('\n'))
    } catch {
      // A folder that cannot be written to makes starts slower, and no worse.
    }
  }
  process.on('exit', keep)
  // Who starts a server does not end before that does.
  setTimeout(keep, SETTLED_MS).unref()
}

function start() {
  const folder = compiledFolder()
  const scripts = new Map()
  const modules = new Map()
  const load = (name) => {
    const filename = `${DIST}/${name}`
    const module = { exports: {} }
    modules.set(name, module)
    const script = new Script(readFileSync(filename, 'latin1'), {
      filename,
      cachedData: folder && compiledIn(`${folder}/${name}`),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    scripts.set(name, script)
    script.runInThisContext()(module.exports, asked, module, filename, DIST)
    return module
  }
  const asked = (id) => {
    if (!id.startsWith('./')) return process.getBuiltinModule(id)
    const name = id.slice(2)
    return (modules.get(name) ?? load(name)).exports
  }
  if (folder) keepCompiled(folder, scripts)
  // Nothing is left to be done: the system takes our memory back faster than we could give it back.
  process.once('beforeExit', () => process.exit())
  asked('./main.cjs')
}

start()
