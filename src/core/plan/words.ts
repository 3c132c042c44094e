/**
 * The words that plans are written in: what their columns, labels and headings mean, in the
 * languages that people brought. A new word is an entry here, never a branch in a reader.
 */

/** The unit of work, by its many names; the first alternative that matches is taken. */
export const phaseWord =
  /phase|phases|fase|fáze|faza|фаза|фазы|этап|етап|etappe|etapa|étape|etape|tappa|aşama|阶段|階段|フェーズ|フェイズ|段階|단계|페이즈/iu;

export const unitWord = new RegExp(
  `${phaseWord.source}|stage|milestone|sprint|iteration|step|wave|work ?unit|work ?package|task|story|epic|cycle|chunk|slice|batch|track|workstream|group|unit|session|week|woche|semana|semaine|неделя|周|週|meilenstein|schritt|paso|passo|hito|jalon|веха|шаг|спринт|里程碑|步骤|步驟|任务|任務|マイルストーン|ステップ|スプリント|タスク`,
  "iu",
);

/** "pending, not started, …" as a list. */
export const wordList = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.replace(/\s+/g, " ").trim())
    .filter((word) => word !== "");

export type Field =
  | "id"
  | "name"
  | "dependsOn"
  | "blocks"
  | "parallelWith"
  | "estimate"
  | "status"
  | "tasks"
  | "done"
  | "checkpoint"
  | "files";

const words: Record<Field, readonly string[]> = {
  id: wordList(`
    phase, phases, phase id, phase #, phase no, phase number, #, id, no, nr, num, number, n, №,
    key, ref, stage, milestone, sprint, iteration, step, wave, work unit, wu, work package, wp,
    unit, task, task id, story, epic, part, slice, item, track, workstream, batch, feature,
    ticket, issue, cycle, session, group, 阶段, 階段, 编号, 序号, 里程碑, 步骤, 任务, フェーズ, 段階, ステップ, 番号, タスク,
    фаза, этап, шаг, етап, номер, schritt, etappe, meilenstein, arbeitspaket, fase, etapa, paso,
    étape, passo, tappa, 단계, hito, marco`),
  name: wordList(`
    name, title, phase name, description, scope, goal, deliverable, deliverables, focus, what,
    summary, objective, theme, subject, content, work, purpose, 名称, 标题, 描述, 内容, 目标, 名前, タイトル,
    概要, название, имя, описание, назва, bezeichnung, titel, beschreibung, nombre, título,
    titulo, descripción, nome, descrição, nom, titre, 이름, 내용, inhalt, thema`),
  dependsOn: wordList(`
    depends on, depends, dependson, depends-on, dependencies, dependency, deps, dep, phase
    dependencies, blocked by, blockedby, blocked on, requires, required, needs, prerequisite,
    prerequisites, prereq, prereqs, pre-requisites, after, predecessor, predecessors, waits for,
    waits on, waiting on, upstream, must follow, hard deps, 依赖, 依赖于, 前置, 前置依赖, 前置条件, 依赖关系, 依賴,
    前置阶段, 依赖项, 依存, 依存関係, 依存先, 前提, 前提条件, 前提フェーズ, зависит от, зависимости, зависимость, залежить
    від, залежності, после, abhängig von, abhängigkeiten, abhängigkeit, hängt ab von,
    voraussetzung, voraussetzungen, nach, benötigt, depende de, depende, dependencias,
    dependencia, requiere, requisitos previos, dependências, dependência, requer,
    pré-requisitos, dépend de, dépendances, dépendance, prérequis, dipende da, dipendenze, 의존성,
    선행, 선행 단계, zależy od, zależności, bağımlılıklar, afhankelijk van, afhankelijkheden, beror
    på, závisí na`),
  blocks: wordList(`
    blocks, unblocks, enables, required by, needed by, blocking, followed by, downstream,
    successors, 阻塞, блокирует, blockiert, bloquea, bloque`),
  parallelWith: wordList(`
    parallel with, parallel, can run with, can run in parallel with, runs with, run with, in
    parallel with, parallelizable with, parallelisable with, concurrent with, concurrency, can
    parallel with, parallel to, parallel phases, parallelism, 并行, 可并行, 並行, 並列, 並行可能, параллельно
    с, параллельно, parallel mit, parallel zu, paralelizável com, paralelizable con,
    parallelisierbar mit, en paralelo con, paralelo con, em paralelo com, en parallèle avec, in
    parallelo con, 병렬`),
  estimate: wordList(`
    estimate, estimates, est, estimated, points, pts, story points, sp, effort, size,
    complexity, poker, poker estimate, estimated effort, estimate (points), estimate (pts), est
    (pts), est points, weight, cost, 估算, 工作量, 点数, 估点, 見積, 見積もり, 見積り, ポイント, 工数, оценка, баллы,
    aufwand, schätzung, punkte, estimación, esfuerzo, puntos, estimativa, esforço, pontos,
    estimation, charge, stima, 추정, оцінка`),
  status: wordList(`
    status, state, progress, done, done?, complete, complete?, completed, ✓, ✅, current status,
    phase status, 状态, 狀態, 进度, 进展, ステータス, 状態, 状況, 進捗, статус, состояние, готово, стан, stand,
    zustand, erledigt, estado, statut, état, stato, 상태, stav, durum, situação`),
  tasks: wordList(`
    tasks, task list, task, to do, todo, todos, to-do, work items, steps, implementation,
    implementation steps, implementation tasks, action items, actions, deliverables, objectives,
    work, checklist, subtasks, sub-tasks, tasks / subtasks, scope, tasks with estimates, what to
    do, changes, tasks/subtasks, implementation checklist, implementation plan, 任务, 任务列表, 任务清单,
    工作内容, 任務, 待办, 步骤, タスク, 作業, 作業内容, やること, задачи, задача, шаги, работы, завдання, aufgaben,
    schritte, tareas, pasos, tarefas, tâches, étapes, attività, 작업, 할 일`),
  done: wordList(`
    definition of done, dod, done when, done criteria, acceptance, acceptance criteria,
    acceptance criterion, acceptance tests, acceptance test, acceptance checklist, ac, exit
    criteria, exit criterion, exit gate, exit conditions, exit, success criteria, success,
    success metrics, completion criteria, completion checklist, quality gate, quality gates,
    gate, gates, gate criteria, verification, verification criteria, verification checklist,
    verification steps, verify, validation, validation criteria, validation checklist, how to
    verify, we are done when, phase is done when, phase complete when, complete when, criteria,
    ready when, quality checklist, success looks like, 完成标准, 完成定义, 验收标准, 验收, 完成條件, 驗收標準, 退出标准,
    完了条件, 完了の定義, 受け入れ条件, 受入条件, 受け入れ基準, 完了基準, критерии готовности, критерии приёмки, критерии
    приемки, критерий готовности, определение готовности, готово когда, критерії готовності,
    abnahmekriterien, akzeptanzkriterien, fertig wenn, definition von fertig, criterios de
    aceptación, criterios de aceptacion, definición de hecho, definición de terminado, criterios
    de salida, critérios de aceitação, definição de pronto, critères d'acceptation, définition
    de terminé, criteri di accettazione, 완료 조건, 완료 기준, 인수 조건`),
  checkpoint: wordList(`
    checkpoint, checkpoints, context checkpoint, context checkpoints, 检查点, チェックポイント, контрольная
    точка, kontrollpunkt, punto de control, ponto de controle, point de contrôle`),
  files: wordList(`
    files, file, file changes, files to create, files to modify, files changed, files to change,
    files touched, affected files, code changes, files affected, key files, files to touch, 文件,
    ファイル, файлы, dateien, archivos, arquivos, fichiers`),
};

const meaning = new Map<string, Field[]>();
for (const [field, list] of Object.entries(words)) {
  for (const word of list) {
    const known = meaning.get(word) ?? [];
    meaning.set(word, [...known, field as Field]);
  }
}

/** What a label, a column's head or a heading can mean; `✅ Definition of Done (Gate):` too. */
export function fieldsOf(label: string): readonly Field[] {
  const cleaned = cleanLabel(label);
  const exact = meaning.get(cleaned);
  if (exact) return exact;
  const bare = cleaned
    .replace(/\s*[([（].*$/u, "")
    .replace(/\s[—–-]\s.*$/u, "")
    .trim();
  const found = meaning.get(bare);
  if (found) return found;
  // "2A tasks", "Phase 1 Acceptance Criteria", "4.2 Definition of Done", "Tasks for phase 1"
  const tail = bare
    .replace(leadingUnit, "")
    .replace(/^[a-z]{0,3}[\d.]+[a-z]?\s*[-–—:.)]?\s+/u, "")
    .replace(/\s+(?:for|of|in)\s+(?:this\s+)?(?:phase|step|stage|milestone|sprint).*$/u, "");
  const plain = meaning.get(tail);
  if (plain) return plain;
  // "Deployment Tasks", "Backend acceptance criteria"
  if (/\s(?:tasks|todos?)$/u.test(bare)) return ["tasks"];
  if (/\s(?:criteria|definition of done|dod|gates?)$/u.test(bare)) return ["done"];
  return [];
}

export const means = (label: string, field: Field): boolean => fieldsOf(label).includes(field);

const leadingUnit = new RegExp(`^(?:${unitWord.source})\\s+[\\w.-]+\\s*[-–—:]?\\s*`, "iu");

function cleanLabel(label: string): string {
  return label
    .normalize("NFC")
    .toLowerCase()
    .replace(/\p{Extended_Pictographic}|\uFE0F|\u200D|[*_`]/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\s:：.。]+$/u, "");
}

/** Headings with the unit's word that announce no unit: "Phase Overview", "Phase dependencies". */
export const notAPhaseName =
  /^(?:over-?view|summary|summaries|dependenc(?:y|ies)|details?|breakdown|plan|planning|status(?:es)?|list|template|legend|map|mapping|matrix|graph|order(?:ing)?|sequence|sequencing|structure|track(?:er|ing)|progress|checklist|notes?|gates?|goals?|timeline|schedule|execution|table|index|sizing|estimat(?:es?|ion)|naming|transitions?|exit|review|completion|numbering|boundar(?:y|ies)|scope|diagram|format|definitions?|rules?|guide|guidelines|log|history|results?|report|by|and|or|the|in|with|for|at|a glance|ids?|names?|specific(?:ation)?s?|completion|contents?|management|description|descriptions|workflow|process|approach|strategy|metrics|roadmap|risks?|total|totals|priorit(?:y|ies)|table of)$/iu;
