"""Every limit of the analysis, and why it stands where it does. What reaches one is listed by `check --verbose`."""

from __future__ import annotations

QUESTION_STEPS = 400_000
"""Questions that one rule may ask of the values of one entry point, parts of values included. The costliest rule on
any entry point of pytorch-image-models asks 40,000; beyond ten times that, the rule says nothing of the entry point."""

FRAMES = 8_000
"""Frames of Python that may stand on each other: a few for each call, each nested expression, and each question that
waits for another. `program/source/room.py` makes room for them."""

QUESTION_DEPTH = 120
"""Questions that may wait for each other before the innermost is asked on its own first: a dozen calls in C each, of which
the first releases of CPython 3.12 nest 1,500."""

QUESTION_RESTARTS = 2_000
"""How often an answer may wait for one that has to be asked on its own first, before it counts as unknown: chains of
120 times as many operations are followed to their end."""

CYCLE_ITERATIONS = 12
"""How often the values of a cycle are asked again until their answers stay the same. Answers that only ever grow need
as many as there are different answers, which for all present questions is below six."""

WAYS = 64
"""Ways, each under conditions of its own, in which a device or a type may come about before it counts as unknown: they
multiply where one choice is made of others. A value has at most `MAX_OPTIONS` of them, and two in one expression are
already rare."""

# Reading files

FILE_SIZE = 1_000_000
"""Bytes of a file that is read: about ten seconds, and more than anyone writes by hand."""

PROJECT_FILES = 5_000
"""Python files of a project in which those are looked for that import a named file, or an open document: a folder that
holds more is no project. So many are looked through in half a second."""

PROJECT_ENTRIES = 50_000
"""Files of all kinds that are passed in search of those: a folder with more of them holds data as well, or is somebody's home.
Then only the folders around a named file are looked at."""

PROJECT_TELLS = 5
"""Python files that a project has to have for what none of them names to count as unused: of a smaller one, the half that
uses it may be missing."""

CALLERS_SIZE = 300_000
"""Bytes of the files that import a named file and that are read with it, the nearest first: two seconds of work."""

BRANCHES = 400
"""Branches of one `if` that are followed: each nests in the one before. More of them are tables of generated code, and the
rest is passed over."""

PROCESSES_PER_CPU = 4
"""Processes that a check starts at most for each processor, whatever `jobs` says: more only wait for each other, and each
takes memory of its own."""

# Evaluating source

PROGRAM_STEPS = 23_000
"""Statements and expressions after which the body of a file follows no more calls, beside those of `STEPS_PER_NAME`: a
script of 1,500 lines with a model and a loop takes 4,000. What the calls would have done counts as unknown."""

PART_STEPS = 4_500
"""The same for any other entry point: there may be one in every function of a project."""

STEPS_PER_NAME = 8
"""By so many more for each name in each function that is called: a simulation with a dozen functions, played in several
places, takes 30,000. What calls itself over and over has no more text than what does not."""

BATCH_STEPS = 1_500
"""The same for what a loader hands out, out of what its entry point may take."""

DECLARED_STEPS = 1_500
"""The same for the constructor of a module that a function is given by its annotation: those of models with a few kinds of
blocks take some hundreds. Of what is not followed, the module holds something that is not known."""

DECORATOR_STEPS = 300
"""The same for one decorator of a function or a class: those that register or wrap it take ten; one that writes its
documentation would take all that the file may."""

ENTRY_STEPS = 250_000
"""Steps of all kinds that one entry point may take: statements, expressions, parts of collections, names merged after
branches, questions of values. Ten times what calls are followed for, so that only what doubles with each line gets
there; it takes a few seconds. Beyond it nothing is judged of the entry point, and functions that it would have reached
are entered on their own."""

SUBCLASSES = 4
"""Classes of which each method of their base class is entered on its own: the next ones set the same attributes."""

PROTOTYPES = 100
"""Instances of classes that nothing makes which are kept for the methods of these classes. The one that was made first is
made again if one of its methods is entered later: a package may have thousands of models, each with all of its layers."""

MANY_FILES = 500
"""Files of a group beyond which what is left of each file's body is looked through for what can still be asked for: of fewer,
it takes less than 200 MB, and looking takes a fortieth of the whole time."""

MANY_ENTRIES = 2_000
"""Entry points of a group beyond which values that refer to each other are collected on the way: fewer do not fill the
memory, and the collector would cost more time than it saves."""

ENTRIES_PER_COLLECTION = 250
"""Then so many are judged from one collection to the next: they leave 20 MB."""

COPIED_AGAIN = 30
"""How often processes are copied again because an entry point has left something for those after it, as a registry is
filled. If more do, one process evaluates the rest alone."""

PLACES = 100_000
"""Lines and columns of expressions that are kept, so that they need not be counted again: a project of 300 files has
50,000. Beyond it they are counted again."""

PARTS_PER_STEP = 16
"""So many parts of a collection are copied, or names merged, in the time of an expression."""

CALL_STEPS = 5
"""Steps that a call counts for which nobody has written out, of the layers of a container or the default of a field: as
many as the text of one would have."""

MAX_DEPTH = 40
"""Calls inside calls of the program's functions; what is deeper is recursion, or counts as unknown."""

MAX_SAME_FUNCTION = 2
"""How often a function may be running at once: a recursion is followed once."""

MAX_NESTED_MODULES = 60
"""Modules inside modules beyond which a forward is not followed: one may hold itself."""

MAX_UNROLLED = 12
"""A loop over a list of at most so many known items is followed item by item; over more, as one iteration of many."""

MAX_UNROLLED_TOGETHER = 144
"""The same for loops inside loops: two of the longest. A third counts as one iteration of many."""

MAX_OPTIONS = 8
"""Values that a name may have at once, one for each way that leads there; beyond it is unknown."""

MAX_OPTIONS_CALLED = 6
"""Of those, how many are called, or asked for an attribute or an entry: each call follows a body."""

MAX_ITEMS = 200
"""Items of a list whose number is known. A longer one holds each of its values once, in a number that is not known."""

MAX_TEXT = 200
"""Characters of strings that are put together, or compared; longer ones are no settings."""

MAX_BITS = 64
"""Size of integers that are calculated with: those that are larger are masks and seeds, and `k = k * k` has no end."""

ELEMENT_DEPTH = 8
"""Iterators of iterators (`zip(enumerate(x), zip(y, z))`) through which an element is followed."""

BATCH_DEPTH = 3
"""Lists and dicts inside each other in a batch, each part of which is told apart."""

INDEX_DEPTH = 4
"""Methods of a data set through which the index that it is asked for is followed."""

MODULE_PARTS = 20_000
"""Values that a module may be made of for what it holds when its parameters are listed to be noted: a transformer of a
hundred layers has 3,000."""

ANNOTATION_DEPTH = 6
"""Types inside types (`Optional[dict[str, list[DataLoader]]]`), aliases included, that an annotation is followed into."""

CONDITION_DEPTH = 6
"""Operations in which two conditions are compared; the values behind are compared by identity."""

TRUTH_DEPTH = 30
"""Conditions made of conditions (`a and not (b or c)`) through which a test is decided."""

MAX_IMPLIED = 100
"""Conditions that are known once a test went one way, the outermost: `a and b and c` has five."""

# Orders of events

ORDERS = 64
"""Ways through branches that are tried: all of six that are independent of each other."""

DEPARTURES = 16
"""Where there are more ways than `ORDERS`: how many are tried that leave the ordinary one at a single branch, and how many
that so leave the busy one. Each is a whole way through the program."""

LOOPS_TWICE = 4
"""Loops inside each other that are run twice, the innermost: epochs, batches and two more. Those around them are run once."""

ORDER_STEPS = 100_000
"""Events and branches that are passed in all these ways together. Beyond it no further way is tried; a script of 1,500
lines passes 5,000."""

# Findings

MAX_PLACES = 6
"""Second places that a finding shows, unless its rule names more: six fill half a screen."""
