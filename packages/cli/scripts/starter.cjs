#!/usr/bin/env node
// Starts the built program; scripts/build.ts puts this file into the package. The program starts fifty times a day, and most of what
// such a start takes is to compile functions. Node keeps what it compiles when it loads a file; but functions are compiled when they
// are first called. So the scripts are loaded here, and what was compiled by the time they are done is kept for the next start.
const fs = process.getBuiltinModule('node:fs')
const { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } = fs
const { Script } = process.getBuiltinModule('node:vm')

/** Which build is in ../dist. */
const BUILD = ''
const DIST = `${__dirname}/../dist`

/** As place/paths.ts has it for state. Not the cache: that is carried between machines, and here whoever can write is obeyed. */
function stateFolder() {
  const { XDG_STATE_HOME, HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32') return LOCALAPPDATA
  if (process.platform === 'darwin') return HOME && `${HOME}/Library/Application Support`
  return XDG_STATE_HOME || (HOME && `${HOME}/.local/state`)
}

function compiledFolder() {
  const { NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE } = process.env
  const state = stateFolder()
  if (!state || NODE_DISABLE_COMPILE_CACHE) return undefined
  // V8 refuses what was compiled by another V8 or with other flags.
  const flags = encodeURIComponent([...process.execArgv, NODE_OPTIONS].join('')).slice(0, 100)
  const folder = `${state}/strongroom/compiled/${BUILD}-${process.version}-${process.arch}${flags}`
  const found = look(folder)
  return !found || (found.isDirectory() && isOurs(found)) ? folder : undefined
}

const PIECE_BYTES = 32_768

const look = (path) => lstatSync(path, { throwIfNoEntry: false })

/** Nobody else has made it or may write there. Windows keeps others out by itself, and says nothing of it here. */
const isOurs = ({ uid, mode }) => !process.getuid || (uid === process.getuid() && (mode & 0o022) === 0)

/**
 * V8 looks at the length of what it is given and no further, so it is looked at here. Kept twice and compared it is known to be whole
 * sooner than by a digest.
 */
function compiledIn(path) {
  const found = look(path)
  if (!found?.isFile() || !isOurs(found)) return undefined
  const fd = fs.openSync(path, 'r')
  try {
    const data = Buffer.allocUnsafeSlow(found.size / 2)
    fs.readSync(fd, data)
    return isRepeatedIn(fd, data) ? data : undefined
  } finally {
    fs.closeSync(fd)
  }
}

/** Piece by piece, since memory that is new costs as much as what is read into it. */
function isRepeatedIn(fd, data) {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  for (let at = 0; at < data.length; ) {
    const length = fs.readSync(fd, piece, 0, Math.min(PIECE_BYTES, data.length - at))
    if (length === 0 || data.compare(piece, 0, length, at, at + length) !== 0) return false
    at += length
  }
  return true
}

/** What a start is of, as far as that decides which functions are called: the command and its flags, without what they are given. */
function kindOfStart() {
  const [command = '', ...more] = process.argv.slice(2)
  const end = more.indexOf('--')
  const flags = (end < 0 ? more : more.slice(0, end)).filter((word) => word.startsWith('-'))
  return [command, ...flags.map((flag) => flag.split('=')[0]).sort()].join(' ')
}

/** Asks nobody. */
const isOffline = /^run .*--offline\b/.test(kindOfStart())

/** What V8 does ahead: it compiles once more what has run a few times, and several threads look for garbage. */
const AHEAD = ['opt', 'maglev', 'sparkplug', 'parallel-scavenge']
const CALM = Symbol.for('strongroom.calm')

/**
 * A start that asks nobody is over before that has paid, and whoever starts the program pays for the other threads, too. So V8 does none
 * of it until the program says so (src/run/hurry.ts). Whatever is loaded meanwhile is compiled anew: what was kept, by Node or by us, is
 * refused under other flags. What such a start needs of Node is therefore loaded before. Only where it is known what is on.
 */
function hurry() {
  const isUsual = process.version.startsWith('v24.') && process.execArgv.length === 0 && !process.env.NODE_OPTIONS
  if (!isOffline || !isUsual) return
  process.getBuiltinModule('node:crypto')
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const setAhead = (isOn) => {
    for (const one of AHEAD) setFlagsFromString(isOn ? `--${one}` : `--no-${one}`)
  }
  setAhead(false)
  process[CALM] = () => setAhead(true)
}

/** What asks the server, the others need not take over. */
const keptAs = (name) => (isOffline ? `offline-${name}` : name)

const MOST_FILES = 200
const MOST_NAME = 100
const SETTLED_MS = 2000

/** Keeps what was compiled by the end of this start. */
function keepCompiled(folder, kind, scripts) {
  const write = (name, content) => {
    const draft = `${folder}/${name}.${process.pid}`
    writeFileSync(draft, content, { mode: 0o600 })
    renameSync(draft, `${folder}/${name}`)
  }
  let isKept = false
  const keep = () => {
    if (isKept) return
    isKept = true
    process[CALM]?.()
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const isMissing = [...scripts.values()].some(({ cachedDataRejected }) => cachedDataRejected !== false)
      const isFull = readdirSync(folder).length >= MOST_FILES
      if (isFull && !isMissing) return
      for (const [name, script] of scripts) {
        const data = script.createCachedData()
        write(keptAs(name), Buffer.concat([data, data]))
      }
      if (!isFull) write(existsSync(`${folder}/${kind}`) ? `${kind}-again` : kind, '')
    } catch {
      // A folder that cannot be written to makes starts slower, and no worse.
    }
  }
  process.on('exit', keep)
  // Who starts a server does not end before that does.
  setTimeout(keep, SETTLED_MS).unref()
}

/** Says whether something is new: that is so while something was not compiled yet, and for the first two starts of each kind. */
function keeper(scripts) {
  const folder = compiledFolder()
  const kind = `started-${encodeURIComponent(kindOfStart()).slice(0, MOST_NAME)}`
  let isKept = folder === undefined
  const keepIf = (isNew) => {
    if (isKept || !isNew) return
    isKept = true
    keepCompiled(folder, kind, scripts)
  }
  if (folder) keepIf(!existsSync(`${folder}/${kind}-again`))
  return { folder, keepIf }
}

function start() {
  const scripts = new Map()
  const modules = new Map()
  const { folder, keepIf } = keeper(scripts)
  const read = (name) => {
    const filename = `${DIST}/${name}`
    const script = new Script(readFileSync(filename, 'latin1'), {
      filename,
      cachedData: folder && compiledIn(`${folder}/${keptAs(name)}`),
    })
    scripts.set(name, script)
    keepIf(script.cachedDataRejected !== false)
    return script.runInThisContext()
  }
  // What nearly every start goes through is in one file, by name.
  const first = read('first.cjs')
  hurry()
  const load = (name) => {
    // Without a prototype an object takes hundreds of members without finding a form for each number of them.
    const module = { exports: { __proto__: null } }
    modules.set(name, module)
    const run = first[name] ?? read(name)
    run(module.exports, asked, module, `${DIST}/${name}`, DIST)
    return module
  }
  const asked = (id) => {
    if (!id.startsWith('./')) return process.getBuiltinModule(id)
    const name = id.slice(2)
    return (modules.get(name) ?? load(name)).exports
  }
  // Nothing is left to be done: the system takes our memory back faster than we could give it back.
  process.once('beforeExit', () => process.exit())
  asked('./main.cjs')
}

start()
