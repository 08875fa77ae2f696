"""How programs use a library: the records under ``kb/code/``."""

from d9m.model.records import Conditional, Evidence, Record
from d9m.model.when import When


class Loader(Conditional, frozen=True, kw_only=True):
    """A call that makes a loader of data, and which of its parameters matter."""

    parameters: list[str]
    """In their order."""
    workers: str
    """How many processes read the data."""
    starts_worker: str
    """The function that each of them calls first."""
    batches: str
    """The function that each of them calls to make a batch of elements."""
    shuffle: str
    picks: list[str] = []
    """With that, those that decide which elements it takes, and when."""
    generator: str
    """The function that draws the order."""
    when: When = {}
    """Releases in which it takes a generator."""


class CodeMarks(Record, frozen=True, kw_only=True):
    """How programs use a library: the calls that `d9m scan` looks for in their code.

    A name that begins with a dot is a method, of an object that the text does not name; one that
    ends with a dot stands for all names that begin so.
    """

    title: str
    package: str | None = None
    """The package of the knowledge base that it is."""
    generator: str | None = None
    """The name of its global generator for readers: ``NumPy``."""
    seeds: list[str] = []
    """Calls that seed the global generator with their first argument."""
    draws: list[str] = []
    """Calls that draw from the global generator."""
    no_draws: list[str] = []
    """Among those names, the ones that draw nothing, or from another generator."""
    seed_needed_by: list[str] = []
    """Settings under which calls that draw raise an error unless it is seeded."""
    makers: dict[str, str] = {}
    """Call that makes a generator, which is random if it gets no seed -> parameter of the seed."""
    reseeds: list[str] = []
    """Methods that seed a generator later."""
    environments: dict[str, list[str]] = {}
    """Call that makes a learning environment with its own generator -> the settings that seed it.
    """
    plays: list[str] = []
    """Methods of an environment that draw from its generator."""
    loaders: dict[str, Loader] = {}
    models: list[str] = []
    """Classes whose objects draw their weights when they are made."""
    chance: list[str] = []
    """Calls that give something else in every run: a clock, the number of the process."""
    listings: list[str] = []
    """Calls that list something in no fixed order."""
    walks: list[str] = []
    """Among them, those that list a folder and all below it, each as its path, folders, files."""
    listing_methods: list[str] = []
    """Methods that do, of objects that `listing_makers` make."""
    listing_makers: list[str] = []
    completions: list[str] = []
    """Calls that give results in the order in which they are ready."""
    order_blind: list[str] = []
    """Calls whose result is the same in whatever order they get the elements."""
    order_bound: list[str] = []
    """Calls whose result depends on the order of what they get."""
    shows: list[str] = []
    """Calls that only display their arguments, or wait that long, and keep nothing."""
    writes_down: list[str] = []
    """Calls that show or store what they get, such as a line in a log."""
    starts_process: list[str] = []
    """Calls that start a process, with the environment as it is then."""
    imports_named: list[str] = []
    """Calls that import what a text names."""
    makes_option: list[str] = []
    """Methods that give a program an option of its command line."""
    trains: list[str] = []
    """Calls that compute gradients."""
    no_gradients: list[str] = []
    """Contexts and decorators without gradients."""
    leaves_gradients: list[str] = []
    """Methods whose result has none, so that what they are called on computes none."""
    tensors: list[str] = []
    """Names whose calls give tensors; annotations that say so are among them."""
    integers: list[str] = []
    """Names whose calls give tensors of whole numbers, which have no gradient."""
    layers: list[str] = []
    """Names whose calls make an object that gives a tensor when it is called."""
    collectives: list[str] = []
    """Calls with which a process joins others, to add up what each has computed."""
    compiles: list[str] = []
    """Calls that give a compiled form of what they get, to be called in its place."""
    own_methods: list[str] = []
    """Methods of its objects that objects of other libraries lack."""
    removed: dict[str, list[str]] = {}
    """Release -> names that the releases before it have, and it and later ones lack."""
    added: dict[str, list[str]] = {}
    """Release -> names that it and later ones have, and the releases before it lack."""
    evidence: list[Evidence]
