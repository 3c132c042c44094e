/** What is started here has nothing of the environment that the tests were started in. */
const kept = ["PATH", "AUTODEV_E2E_JSON"];
for (const name of Object.keys(process.env)) if (!kept.includes(name)) delete process.env[name];
